//! Queues in tc's words: what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use net::QueueConfig;

fuzz_target!(|text: &str| {
    if let Ok(queue) = text.parse::<QueueConfig>() {
        assert_eq!(queue.to_string().parse::<QueueConfig>().as_ref(), Ok(&queue));
    }
});

//! Names of quantities are static strings in a recording. Those that come out of a file are kept
//! once each for as long as the program lives.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The longest name that is accepted, in bytes; the recorded ones have under 40.
const LONGEST: usize = 256;
/// How many names are accepted, so that a made-up file cannot fill the memory; a run has about a
/// hundred.
const MOST: usize = 65_536;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The static string equal to `name`; why not, if it is too long or there are too many.
pub fn keep(name: &str) -> Result<&'static str, String> {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if name.len() > LONGEST || names.len() >= MOST {
        return Err(format!("{} names of {} bytes", names.len() + 1, name.len()));
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let first = keep("bytesReceived").unwrap();
        assert_eq!(first, "bytesReceived");
        assert!(std::ptr::eq(first, keep(&String::from("bytesReceived")).unwrap()));
        assert!(keep(&"x".repeat(LONGEST + 1)).is_err());
    }
}

//! The profiles 'as run' against recordings of the original programs: every row of input is
//! replayed, and every output is compared. `tests/data/libwebrtc-history/README.md` describes the
//! recordings.

#![expect(clippy::unwrap_used, reason = "a recording that cannot be read fails the test")]

#[path = "libwebrtc_history/compare.rs"]
mod compare;
#[path = "libwebrtc_history/receiver.rs"]
mod receiver;
#[path = "libwebrtc_history/sender.rs"]
mod sender;
#[path = "libwebrtc_history/whole.rs"]
mod whole;

use compare::Comparison;

/// Traces of which the profile has a recording, by the end of the file name.
fn recordings(version: &str, sender: bool) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/libwebrtc-history");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".csv.gz")?.to_owned()))
        .filter(|name| name.starts_with(version) && name.contains("-sender") == sender)
        .collect();
    names.sort();
    names
}

/// Replays all recordings of one half of a version. Every output must agree.
fn replay(version: &str, sender: bool, answer: fn(&str, &str) -> Comparison) {
    let names = recordings(version, sender);
    assert!(names.len() >= 8, "{version} has {} recordings", names.len());
    let mut all = Comparison::default();
    let mut different = Vec::new();
    for name in names {
        let comparison = answer(&format!("gcc:{version}"), &name);
        if let Some(first) = comparison.first() {
            different.push(format!("{name}: {first}"));
        }
        all.add(&comparison);
    }
    println!("{version}:\n{all}");
    assert!(different.is_empty(), "{}\n{all}", different.join("\n"));
}

macro_rules! versions {
    ($($receiver:ident, $sender:ident: $version:literal;)+) => { $(
        #[test]
        fn $receiver() {
            replay($version, false, receiver::answer);
        }

        #[test]
        fn $sender() {
            replay($version, true, sender::answer);
        }
    )+ };
}

versions! {
    the_receiver_of_chromium_2014, the_sender_of_chromium_2014: "chromium-2014";
    the_receiver_of_chromium_2015, the_sender_of_chromium_2015: "chromium-2015";
    the_receiver_of_chrome_47, the_sender_of_chrome_47: "chrome-47";
    the_receiver_of_chrome_52, the_sender_of_chrome_52: "chrome-52";
}

#[test]
fn the_whole_sender_of_chrome_72() {
    replay("chrome-72", false, whole::answer);
}

#[test]
fn the_loss_control_of_chrome_72() {
    replay("chrome-72", true, sender::answer);
}

//! Every registered controller has a page in `docs/algorithms` with its settings, their values, and
//! its signals.

#![expect(clippy::unwrap_used, reason = "a missing page fails the test")]

use cc::{ControllerConfig, Profile};
use std::path::PathBuf;
use units::Bitrate;

/// The profiles that the page `gcc-as-run.md` describes.
const AS_RUN: [&str; 6] = [
    "gcc:chromium-2014",
    "gcc:chromium-2015",
    "gcc:chrome-47",
    "gcc:chrome-52",
    "gcc:firefox-48",
    "gcc:chrome-72",
];

/// The page of the profile (`gcc-libwebrtc.md`) if it exists, else the page of the family
/// (`gcc.md`).
fn page(profile: &Profile) -> String {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/algorithms"));
    let name =
        if AS_RUN.contains(&profile.name.as_str()) { "gcc-as-run" } else { profile.name.as_str() };
    let own = folder.join(format!("{}.md", name.replace(':', "-")));
    let family = folder.join(format!("{}.md", profile.name.split([':', '@']).next().unwrap()));
    std::fs::read_to_string(own).or_else(|_| std::fs::read_to_string(family)).unwrap()
}

fn row<'a>(page: &'a str, profile: &Profile, name: &str) -> &'a str {
    let start = format!("| `{name}` |");
    let row = page.lines().find(|line| line.starts_with(&start));
    row.unwrap_or_else(|| panic!("the page of {} has no row '{start}'", profile.name))
}

#[test]
fn settings_and_signals_are_on_the_page() {
    for profile in cc::profiles() {
        let page = page(&profile);
        for setting in &profile.settings {
            let row = row(&page, &profile, setting.name);
            let value = format!("| {} |", setting.value);
            assert!(row.contains(&value), "{}: no '{value}' in '{row}'", profile.name);
        }
        let controllers = cc::build(&ControllerConfig {
            profile: profile.name.clone(),
            settings: Vec::new(),
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(30),
            max_rate: Bitrate::from_mbps(2),
        })
        .unwrap();
        let mut named = |name: &'static str, _| {
            row(&page, &profile, name);
        };
        controllers.sender.signals(&mut named);
        if let Some(receiver) = &controllers.receiver {
            receiver.signals(&mut named);
        }
    }
}

#[test]
fn improvements_are_on_the_pages_with_their_settings() {
    for (name, is_published) in [("gcc", true), ("gcc-libwebrtc", false)] {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/algorithms"));
        let page = std::fs::read_to_string(folder.join(format!("{name}.md"))).unwrap();
        for improvement in cc::improvements() {
            let start = format!("| {} |", improvement.name);
            let row = page.lines().find(|line| line.starts_with(&start));
            let row = row.unwrap_or_else(|| panic!("{name}.md has no row '{start}'"));
            let changes = if is_published { improvement.published } else { improvement.libwebrtc };
            let changes = changes.unwrap_or_default();
            let own =
                |(setting, value): &(&str, &str)| row.contains(&format!("`{setting} = {value}`"));
            assert!(row.contains("nothing") || changes.iter().all(own), "{name}.md: {row}");
        }
    }
}

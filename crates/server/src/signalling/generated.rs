//! Generates the types of the page from the messages of the server.

use super::message::{
    CallRole, CallSettings, FromPage, IceCandidate, ImsSettings, Milestone, Priority, Reason,
    Source, StatsReport, ToPage, VideoSettings,
};
use crate::IceServer;
use std::path::Path;
use ts_rs::{Config, TS};

const FILE: &str = "../../web/src/generated/messages.ts";
const RENEW: &str = "WEIR_RENEW=1 cargo test -p weir-server --lib signalling::generated";

fn declaration<T: TS>(config: &Config) -> String {
    let text = T::decl(config);
    let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
    format!("export {}", lines.collect::<String>())
}

fn generate() -> String {
    let config = Config::new();
    let parts = [
        declaration::<FromPage>(&config),
        declaration::<ToPage>(&config),
        declaration::<Reason>(&config),
        declaration::<CallRole>(&config),
        declaration::<CallSettings>(&config),
        declaration::<VideoSettings>(&config),
        declaration::<ImsSettings>(&config),
        declaration::<Milestone>(&config),
        declaration::<Priority>(&config),
        declaration::<Source>(&config),
        declaration::<IceServer>(&config),
        declaration::<IceCandidate>(&config),
        declaration::<StatsReport>(&config),
    ];
    format!(
        "// Generated from crates/server/src/signalling/message.rs. To regenerate:\n// {RENEW}\n\n{}",
        parts.join("\n")
    )
}

#[test]
fn the_types_of_the_page_match_the_messages_of_the_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let expected = generate();
    if std::env::var_os("WEIR_RENEW").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is out of date; regenerate it with\n  {RENEW}", path.display());
}

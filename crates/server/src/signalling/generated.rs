//! The page's types, made of the server's.

use super::message::{
    CallSettings, FromPage, IceCandidate, Priority, Reason, Seat, Source, StatsReport, ToPage,
    VideoSettings,
};
use crate::IceServer;
use std::path::Path;
use ts_rs::{Config, TS};

const FILE: &str = "../../web/src/generated/messages.ts";
const RENEW: &str = "WEIR_RENEW=1 cargo test -p weir-server --lib signalling::generated";

fn declared<T: TS>(config: &Config) -> String {
    let declared = T::decl(config);
    let lines = declared.lines().map(|line| format!("{}\n", line.trim_end()));
    format!("export {}", lines.collect::<String>())
}

fn all() -> String {
    let config = Config::new();
    let parts = [
        declared::<FromPage>(&config),
        declared::<ToPage>(&config),
        declared::<Reason>(&config),
        declared::<Seat>(&config),
        declared::<CallSettings>(&config),
        declared::<VideoSettings>(&config),
        declared::<Priority>(&config),
        declared::<Source>(&config),
        declared::<IceServer>(&config),
        declared::<IceCandidate>(&config),
        declared::<StatsReport>(&config),
    ];
    format!(
        "// Made of crates/server/src/signalling/message.rs; renew with\n// {RENEW}\n\n{}",
        parts.join("\n")
    )
}

#[test]
fn the_pages_types_are_those_of_the_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let wanted = all();
    if std::env::var_os("WEIR_RENEW").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is out of date; renew it with\n  {RENEW}", path.display());
}

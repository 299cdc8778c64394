//! The examples of `docs/adding.md`: the quoted lines are still in the files that they name, and the
//! experiment and the claim run. The other Rust examples are doctests of the library.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use lab::claims::{Catalogue, Plan, Status};
use lab::runner::{NO_CACHE, Runner, all_cores};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const PAGE: &str = include_str!("../../../docs/adding.md");
/// The sections that an outside program cannot show in Rust, so they quote a file.
const QUOTING: [&str; 4] = ["A queue", "An access network", "A figure kind", "A remedy"];
/// A line of a quotation that stands for omitted lines.
const OMITTED: &str = "// …";

/// A code block of the page.
struct Block {
    /// The heading above it.
    section: &'static str,
    /// The words after the opening fence: `rust,ignore`.
    language: &'static str,
    lines: Vec<&'static str>,
}

fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut section = "";
    let mut is_open = false;
    for line in PAGE.lines() {
        match line.strip_prefix("```") {
            Some(language) if !is_open => {
                blocks.push(Block { section, language, lines: Vec::new() });
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => blocks.last_mut().unwrap().lines.push(line),
            None => section = line.strip_prefix("## ").unwrap_or(section),
        }
    }
    assert!(!is_open, "a code block of the page has no end");
    blocks
}

/// The only TOML block of a section.
fn toml(section: &str) -> String {
    let mut found = blocks()
        .into_iter()
        .filter(|block| block.section == section && block.language == "toml")
        .map(|block| block.lines.join("\n"));
    let text = found.next().unwrap();
    assert!(found.next().is_none(), "'{section}' has two TOML blocks");
    text
}

/// The first of `quoted` that is not in `text` after the lines before it. Indentation, empty lines
/// and [`OMITTED`] do not count.
fn missing<'a>(quoted: &[&'a str], text: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    let quoted = quoted.iter().map(|line| line.trim());
    let mut quoted = quoted.filter(|line| !line.is_empty() && *line != OMITTED);
    quoted.find(|wanted| !lines.any(|line| line == *wanted))
}

#[test]
fn quoted_lines_are_in_the_file_that_the_first_line_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sections = BTreeSet::new();
    for Block { section, lines, .. } in
        blocks().into_iter().filter(|block| block.language == "rust,ignore")
    {
        let (first, quoted) = lines.split_first().unwrap();
        let path = first.strip_prefix("// ").unwrap_or_else(|| {
            panic!("'{section}': a quotation begins with '{first}'; write '// crates/…/file.rs'")
        });
        let text = std::fs::read_to_string(root.join(path))
            .unwrap_or_else(|error| panic!("'{section}': {path}: {error}"));
        assert!(!quoted.is_empty(), "'{section}': nothing is quoted from {path}");
        if let Some(line) = missing(quoted, &text) {
            panic!("'{section}': {path} has no line '{line}' there; update docs/adding.md");
        }
        sections.insert(section);
    }
    assert!(QUOTING.iter().all(|section| sections.contains(section)), "{sections:?}");
}

#[test]
fn a_quotation_keeps_the_order_of_the_lines() {
    let text = "fn a() {\n    b();\n    c();\n}\n";
    assert_eq!(missing(&["fn a() {", OMITTED, "c();", "", "}"], text), None);
    assert_eq!(missing(&["c();", "b();"], text), Some("b();"));
    assert_eq!(missing(&["b()"], text), Some("b()"));
}

#[test]
fn every_code_block_is_checked_or_is_a_command() {
    for Block { section, language, lines } in blocks() {
        let is_checked = match language {
            "rust" | "rust,ignore" => true,
            "toml" => ["An experiment", "A claim"].contains(&section),
            "text" => ["weir ", "cargo ", "fuzz/run ", "UPDATE_GOLDEN=1 ", "INSTA_UPDATE=always "]
                .iter()
                .any(|start| lines[0].starts_with(start)),
            _ => false,
        };
        assert!(is_checked, "'{section}': no test checks a block of '{language}': {lines:?}");
    }
}

#[test]
fn the_claim_is_reproduced_by_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fig1.toml");
    std::fs::write(&file, toml("An experiment")).unwrap();
    let name = "example-2026/fig1";
    let claims = toml("A claim");
    assert!(PAGE.contains(&format!("experiments/{name}.toml")) && claims.contains(name));
    let claims = claims.replace(name, file.to_str().unwrap());

    let catalogue = Catalogue::parse(&claims, "claims/example-2026.toml").unwrap();
    let plan = Plan::new(catalogue.select(&[]).unwrap(), Ok);
    let cancel = AtomicBool::new(false);
    let runner =
        Runner { jobs: all_cores(), cancel: &cancel, progress: &|_, _| {}, cache: &NO_CACHE };
    let (verdicts, summary) = plan.run(runner, |_, _| (), |_, ()| {});
    assert_eq!((verdicts.len(), summary.done), (1, 4));
    assert_eq!(verdicts[0].status, Status::Reproduced, "{}", verdicts[0].measured);
}

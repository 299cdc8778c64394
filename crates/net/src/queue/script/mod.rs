//! Scripts of `tc qdisc|class|filter add …` commands: parses them into a tree of disciplines, and
//! writes a tree as a script.
//!
//! `text ─▶ lines (variables, comments) ─▶ statement ─▶ tree`
//!
//! Comments, `sudo`, prompts, continued lines, `NAME=value`, `$NAME` and a leading `tc qdisc del …
//! root` are supported. An error names the line and the word, and suggests a fix. Rates of children
//! above the ceil of their parent are errors here, though Linux accepts them. Linux's rule that
//! filters of one prio have the same kind and protocol is not checked.

mod lines;
mod statement;
mod tree;
mod write;

pub(super) use lines::is_script;
pub(super) use write::{write, write_gateway};

use super::QueueConfig;
use super::error::QueueConfigError;
use statement::Statement;
use tree::Tree;

/// The most commands of a script: more are taken for a mistake.
const MAX_LINES: usize = 10_000;

/// Parses a script.
pub(super) fn read(text: &str) -> Result<QueueConfig, QueueConfigError> {
    let mut tree = Tree::default();
    let lines = lines::lines(text)?;
    if lines.len() > MAX_LINES {
        let reason = format!("{} tc commands; at most {MAX_LINES} are allowed", lines.len());
        return Err(QueueConfigError::new(reason));
    }
    for line in &lines {
        let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
        let add = || match Statement::read(&words)? {
            Some(statement) => Ok(Some(statement)),
            None if tree.is_empty() => Ok(None),
            None => Err(QueueConfigError::new(
                "'del' would remove what was added above; leave out this line and what it removes"
                    .to_owned(),
            )),
        };
        let statement = add().map_err(|error: QueueConfigError| error.at_line(line.number))?;
        if let Some(statement) = statement {
            tree.add(line.number, &statement).map_err(|error| error.at_line(line.number))?;
        }
    }
    tree.finish()
}

#[cfg(test)]
mod tests;

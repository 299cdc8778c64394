//! A script of `tc qdisc|class|filter add …` lines, pasted as it stands: read into a tree of
//! disciplines, and written back.
//!
//! `text ─▶ lines (variables, comments) ─▶ statement ─▶ tree`
//!
//! Comments, `sudo`, prompts, continued lines, `NAME=value` and `$NAME`, and a first `tc qdisc del
//! … root` are understood. A mistake is answered with the number of the line, the word and the
//! mend; so are rates of children above their parent's ceil, which Linux lets pass. That filters of
//! one prio are of one kind and protocol is not checked.

mod lines;
mod statement;
mod tree;
mod write;

pub(super) use lines::is_script;
pub(super) use write::write;

use super::tc::{QueueConfig, QueueConfigError};
use statement::Statement;
use tree::Tree;

/// More lines are a slip of the pen.
const MAX_LINES: usize = 10_000;

/// Reads a script.
pub(super) fn read(text: &str) -> Result<QueueConfig, QueueConfigError> {
    let mut tree = Tree::default();
    let lines = lines::lines(text)?;
    if lines.len() > MAX_LINES {
        let reason = format!("{} lines of tc; there can be {MAX_LINES}", lines.len());
        return Err(QueueConfigError::new(reason));
    }
    for line in &lines {
        let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
        let add = || match Statement::read(&words)? {
            Some(statement) => Ok(Some(statement)),
            None if tree.is_empty() => Ok(None),
            None => Err(QueueConfigError::new(
                "'del' would undo what stands above; leave the line out, and what it undoes"
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

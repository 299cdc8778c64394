//! The lines of a script that tc is to carry out.

use super::super::tc::QueueConfigError;
use std::collections::BTreeMap;

/// A line for tc: its words after `tc`.
pub(super) struct Line {
    /// Where it stands, from 1.
    pub(super) number: usize,
    pub(super) words: Vec<String>,
}

/// Whether a text is a script: a line begins with `tc`.
pub(in super::super) fn is_script(text: &str) -> bool {
    text.lines().any(|line| is_tc(plain(line)) || is_tc(prompted(line)))
}

/// Without a comment, `$ ` of a prompt, and sudo.
fn plain(line: &str) -> &str {
    let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
    let line = if line.starts_with('#') { "" } else { line };
    let line = line.strip_prefix("$ ").unwrap_or(line).trim_start();
    line.strip_prefix("sudo ").unwrap_or(line).trim_start()
}

/// What stands after the prompt of root: in manual pages `# tc …` is no comment.
fn prompted(line: &str) -> &str {
    let line = line.trim();
    plain(line.strip_prefix("# ").unwrap_or(line))
}

fn is_tc(line: &str) -> bool {
    let command = line.split_whitespace().next().unwrap_or_default();
    ["tc", "$TC", "${TC}"].contains(&command) || command.ends_with("/tc")
}

/// The lines for tc, with variables filled in.
///
/// # Errors
/// At a line that is neither for tc nor an assignment, and at a variable without a value.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, QueueConfigError> {
    // A '#' is a prompt only where no line stands without.
    let prompts = !text.lines().any(|line| is_tc(plain(line)));
    let strip = if prompts { prompted } else { plain };
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = Vec::new();
    let mut begun: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let (number, joined) = match begun.take() {
            Some((number, start)) => (number, format!("{start} {}", strip(line))),
            None => (number, strip(line).to_owned()),
        };
        if let Some(start) = joined.strip_suffix('\\') {
            begun = Some((number, start.to_owned()));
            continue;
        }
        let at = |reason: String| QueueConfigError::new(reason).at_line(number);
        for part in joined.split(';').map(strip).filter(|part| !part.is_empty()) {
            if is_tc(part) {
                let words = tc_words(part, &variables).map_err(at)?;
                lines.push(Line { number, words });
                continue;
            }
            match part.strip_prefix("export ").unwrap_or(part).split_once('=') {
                Some((name, value)) if is_name(name) => {
                    let value = fill(value.trim(), &variables).map_err(at)?;
                    variables.insert(name.to_owned(), value);
                }
                _ => {
                    let word = part.split_whitespace().next().unwrap_or_default();
                    return Err(at(format!(
                        "'{word}' is not tc; leave the line out: only tc's lines and NAME=value are read"
                    )));
                }
            }
        }
    }
    match begun {
        Some((number, _)) => {
            Err(QueueConfigError::new("a '\\' at the end, and no line after it".to_owned()).at_line(number))
        }
        None => Ok(lines),
    }
}

/// The words after `tc`, up to what is the shell's.
fn tc_words(line: &str, variables: &BTreeMap<String, String>) -> Result<Vec<String>, String> {
    let words = line.split_whitespace().skip(1).take_while(|word| !is_redirection(word));
    let filled = words.map(|word| fill(word, variables)).collect::<Result<Vec<_>, _>>()?;
    // A variable can hold several words.
    Ok(filled.join(" ").split_whitespace().map(str::to_owned).collect())
}

fn is_redirection(word: &str) -> bool {
    ["2>", ">", "||", "&&", "|"].iter().any(|sign| word.starts_with(sign))
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(letter)
}

/// Puts in values for `$NAME` and `${NAME}`.
fn fill(word: &str, variables: &BTreeMap<String, String>) -> Result<String, String> {
    let mut parts = word.split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = match part.strip_prefix('{').and_then(|part| part.split_once('}')) {
            Some(split) => split,
            None => {
                let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                part.split_at(end.unwrap_or(part.len()))
            }
        };
        match variables.get(name) {
            Some(value) => filled.push_str(value),
            None => return Err(format!("${name} has no value; write '{name}=…' above, or its value here")),
        }
        filled.push_str(rest);
    }
    Ok(filled.replace(['"', '\''], ""))
}

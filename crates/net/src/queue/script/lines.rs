//! The `tc` commands of a shell script.

use super::super::error::QueueConfigError;
use std::collections::BTreeMap;

/// A `tc` command: its words after `tc`.
pub(super) struct Command {
    /// Its line in the script, from 1.
    pub(super) number: usize,
    pub(super) words: Vec<String>,
}

type Variables = BTreeMap<String, String>;

/// Whether a text is a script: one of its lines begins with `tc`.
pub(in super::super) fn is_script(text: &str) -> bool {
    text.lines().any(|line| is_tc(plain(line)) || is_tc(prompted(line)))
}

/// The line without comment, user prompt (`$ `) and sudo.
fn plain(line: &str) -> &str {
    let comment =
        line.match_indices('#').find(|(at, _)| line[..*at].ends_with(char::is_whitespace));
    let line = comment.map_or(line, |(at, _)| &line[..at]).trim();
    let line = if line.starts_with('#') { "" } else { line };
    let line = line.strip_prefix("$ ").unwrap_or(line).trim_start();
    line.strip_prefix("sudo ").unwrap_or(line).trim_start()
}

/// The line without the prompt of root: in manual pages `# tc …` is a command, not a comment.
fn prompted(line: &str) -> &str {
    let line = line.trim();
    plain(line.strip_prefix("# ").unwrap_or(line))
}

fn is_tc(line: &str) -> bool {
    let command = line.split_whitespace().next().unwrap_or_default();
    ["tc", "$TC", "${TC}"].contains(&command)
        || (command.ends_with("/tc") && !command.contains('='))
}

/// The `tc` commands of a script, with variables replaced by their values.
///
/// # Errors
/// A line is neither a `tc` command nor an assignment, or a variable has no value.
pub(super) fn lines(text: &str) -> Result<Vec<Command>, QueueConfigError> {
    // `# tc` is a prompt only if no line has a `tc` without it.
    let prompts = !text.lines().any(|line| is_tc(plain(line)));
    let strip = if prompts { prompted } else { plain };
    let mut variables = Variables::from([("TC".to_owned(), "tc".to_owned())]);
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
        for part in joined.split(';').flat_map(|part| part.split("&&")).map(plain) {
            let command = command(part, &mut variables);
            let words = command.map_err(|error| error.at_line(number))?;
            lines.extend(words.map(|words| Command { number, words }));
        }
    }
    match begun {
        Some((number, _)) => {
            Err(QueueConfigError::new("a '\\' at the end, and no line after it".to_owned())
                .at_line(number))
        }
        None => Ok(lines),
    }
}

/// The words after `tc`; `None` if the part is empty or an assignment, which is then stored.
fn command(part: &str, variables: &mut Variables) -> Result<Option<Vec<String>>, QueueConfigError> {
    let part = part.strip_prefix("export ").unwrap_or(part).trim();
    if part.is_empty() {
        return Ok(None);
    }
    if let Some((name, rest)) = part.split_once('=').filter(|(name, _)| is_name(name)) {
        let (value, rest) = value(rest);
        let value = fill(value, variables)?;
        variables.insert(name.to_owned(), value);
        return command(rest, variables);
    }
    // A variable may hold several words, or `tc` itself.
    let filled = fill(part, variables)?;
    if !is_tc(&filled) {
        let word = filled.split_whitespace().next().unwrap_or_default();
        return Err(QueueConfigError::new(format!(
            "'{word}' is not tc; leave the line out: only tc commands and NAME=value are read"
        )));
    }
    let end = filled.split_whitespace().position(is_redirection);
    let words: Vec<String> = filled.split_whitespace().map(str::to_owned).collect();
    let (words, tail) = words.split_at(end.unwrap_or(words.len()));
    if tail.iter().any(|word| is_tc(word)) {
        return Err(QueueConfigError::new(format!(
            "a tc after '{}'; write it on a separate line",
            tail[0]
        )));
    }
    Ok(Some(words[1..].to_vec()))
}

/// Splits the text after `=` into the value, a word or quoted, and the rest.
fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some((value, rest)) =
            text.strip_prefix(quote).and_then(|text| text.split_once(quote))
        {
            return (value, rest.trim());
        }
    }
    text.split_once(char::is_whitespace).map_or((text, ""), |(value, rest)| (value, rest.trim()))
}

fn is_redirection(word: &str) -> bool {
    ["2>", ">", "||", "|"].iter().any(|sign| word.starts_with(sign))
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(letter)
}

/// Replaces `$NAME` and `${NAME}` by their values.
fn fill(text: &str, variables: &Variables) -> Result<String, QueueConfigError> {
    if text.contains('`') {
        return Err(QueueConfigError::new(
            "'`': command substitution is not supported; write the command's output".to_owned(),
        ));
    }
    let mut parts = text.split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if part.starts_with(['(', '[']) {
            return Err(QueueConfigError::new(format!(
                "'${}': arithmetic is not supported; write the result",
                &part[..1]
            )));
        }
        let (name, rest) = match part.strip_prefix('{').and_then(|part| part.split_once('}')) {
            Some(split) => split,
            None => {
                let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                part.split_at(end.unwrap_or(part.len()))
            }
        };
        match variables.get(name) {
            Some(value) => filled.push_str(value),
            None if is_name(name) => {
                return Err(QueueConfigError::new(format!(
                    "${name} has no value; write '{name}=…' above, or its value here"
                )));
            }
            None => {
                return Err(QueueConfigError::new(format!(
                    "'${name}' is not known; write its value"
                )));
            }
        }
        filled.push_str(rest);
    }
    Ok(filled.replace(['"', '\''], ""))
}

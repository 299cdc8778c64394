use super::{Table, Value};
use std::fmt::Write;

/// The document as TOML. A run whose experiment was changed on the command line is stored with this
/// text.
pub fn write(table: &Table) -> String {
    let mut out = String::new();
    section(table, "", &mut out);
    out
}

/// Writes the values of a table and then its tables, each under its own header.
fn section(table: &Table, path: &str, out: &mut String) {
    let is_table = |value: &Value| matches!(value, Value::Table(_));
    for (name, node) in table.iter().filter(|(_, node)| !is_table(&node.value)) {
        put(out, format_args!("{} = {}\n", key(name), inline(&node.value)));
    }
    for (name, node) in table.iter() {
        if let Value::Table(inner) = &node.value {
            let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
            put(out, format_args!("\n[{path}]\n"));
            section(inner, &path, out);
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Bool(value) => value.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let pairs =
                table.iter().map(|(name, node)| format!("{} = {}", key(name), inline(&node.value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => put(&mut out, format_args!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_document_reads_back_unchanged() {
        let text = "title = \"a \\\"b\\\" \\\\ \\u0001\\n\"\nx = [1, 2.5, { a = true, 'b.c' = \"d\" }]\n[host.alice]\nup = { rate = \"1Mbit/s\" }\n[call.'a b'.settings]\n'threshold.initial' = 5.0\n";
        let table = |text: &str| match super::super::parse(text).unwrap().value {
            Value::Table(table) => table,
            other => panic!("{other:?}"),
        };
        let written = write(&table(text));
        assert_eq!(write(&table(&written)), written);
        assert!(written.contains("[host.alice.up]\nrate = \"1Mbit/s\"\n"), "{written}");
        assert!(
            written.contains("[call.\"a b\".settings]\n\"threshold.initial\" = 5.0\n"),
            "{written}"
        );
        assert!(
            written.starts_with(
                "title = \"a \\\"b\\\" \\\\ \\u0001\\n\"\nx = [1, 2.5, { a = true, \"b.c\" = \"d\" }]\n"
            ),
            "{written}"
        );
    }
}

//! The form of an experiment: a field for every single value of its text, described by the JSON
//! schema of experiment files.

use crate::messages::{Field, FieldKind};
use document::{KeyPath, Value as Setting};
use experiment::Experiment;
use serde_json::Value;

/// Keys that describe the experiment and change no run, or are edited as text.
const LEFT_OUT: [&str; 8] =
    ["title", "source", "about", "figure", "as_printed", "advise", "quick", "time_scale"];
/// Keys of the file that a form has even if the text has not, with their defaults.
const ALWAYS: [(&str, &str); 2] = [("runs", "1"), ("seed", "1")];

/// The fields, in the order of the text.
pub(crate) fn fields(experiment: &Experiment) -> Vec<Field> {
    let schema = experiment::schema();
    let settings = experiment.settings();
    let has = |key: &str| settings.iter().any(|(path, _)| path.to_string() == key);
    let missing = ALWAYS.iter().filter(|(key, _)| !has(key));
    let missing = missing.filter_map(|(key, value)| {
        Some((KeyPath::parse(key).ok()?, Setting::Text((*value).to_owned())))
    });
    let shown = |path: &KeyPath| {
        path.parts().first().is_some_and(|first| !LEFT_OUT.contains(&first.as_str()))
    };
    let all: Vec<(KeyPath, Setting)> = settings.iter().cloned().chain(missing).collect();
    all.into_iter()
        .filter(|(path, _)| shown(path))
        .map(|(path, value)| field(&schema, &path, &value))
        .collect()
}

fn field(schema: &Value, path: &KeyPath, value: &Setting) -> Field {
    let found = find(schema, path.parts());
    let doc = found.and_then(|node| node["description"].as_str()).unwrap_or_default();
    let allowed = found.and_then(|node| node["enum"].as_array()).into_iter().flatten();
    let mut words: Vec<String> = allowed.filter_map(Value::as_str).map(str::to_owned).collect();
    let kind = match value {
        Setting::Bool(_) => FieldKind::Flag,
        Setting::Integer(_) | Setting::Real(_) => FieldKind::Number,
        _ if path.to_string() == "runs" || path.to_string() == "seed" => FieldKind::Number,
        _ if !words.is_empty() => FieldKind::Choice,
        _ => FieldKind::Text,
    };
    if path.parts().last().is_some_and(|last| last == "controller") {
        words = experiment::controllers::profiles().into_iter().map(|one| one.name).collect();
    }
    let value = match value {
        Setting::Text(text) => text.clone(),
        Setting::Integer(number) => number.to_string(),
        Setting::Real(number) => number.to_string(),
        Setting::Bool(flag) => flag.to_string(),
        Setting::List(_) | Setting::Table(_) => String::new(),
    };
    Field { key: path.to_string(), value, doc: doc.to_owned(), kind, words }
}

/// The part of the schema that describes the value at this path. Of several alternatives, the first
/// that has the path.
fn find<'s>(schema: &'s Value, path: &[String]) -> Option<&'s Value> {
    let Some((first, rest)) = path.split_first() else { return Some(schema) };
    let direct = schema["properties"].get(first);
    let named = || schema.get("additionalProperties").filter(|inner| inner.is_object());
    if let Some(inner) = direct.or_else(named) {
        return find(inner, rest);
    }
    let others = schema["anyOf"].as_array()?;
    others.iter().find_map(|other| find(other, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_the_values_of_the_text_with_their_descriptions() {
        let text = "title = \"t\"\nduration = \"30s\"\n[host.a]\n[host.b]\n[host.a.up]\n\
                    rate = \"1Mbit/s\"\n[call.main]\nfrom = \"a\"\nto = \"b\"\nvideo = true\n\
                    controller = \"gcc:libwebrtc\"\n";
        let experiment = Experiment::parse(text, "t").unwrap();
        let fields = fields(&experiment);
        let of = |key: &str| {
            fields.iter().find(|field| field.key == key).unwrap_or_else(|| panic!("{key}"))
        };
        assert_eq!(of("duration").value, "30s");
        assert!(of("duration").doc.starts_with("The duration of a run."));
        assert_eq!(
            (of("host.a.up.rate").value.as_str(), of("host.a.up.rate").doc.is_empty()),
            ("1Mbit/s", false)
        );
        assert_eq!(of("call.main.video").kind, FieldKind::Flag);
        assert!(of("call.main.controller").words.iter().any(|word| word == "scream-v2"));
        assert_eq!((of("seed").value.as_str(), of("seed").kind), ("1", FieldKind::Number));
        assert!(!fields.iter().any(|field| field.key == "title"));
    }

    #[test]
    fn every_field_of_every_built_in_experiment_is_described() {
        let mut unknown = Vec::new();
        for name in experiment::names().iter().filter(|name| name.starts_with("situations/")) {
            let experiment = Experiment::open(name).unwrap();
            let without = fields(&experiment).into_iter().filter(|field| field.doc.is_empty());
            unknown.extend(without.map(|field| format!("{name}: {}", field.key)));
        }
        // Settings of controllers are described with the controllers.
        unknown.retain(|line| !line.contains(".settings."));
        assert_eq!(unknown, Vec::<String>::new());
    }
}

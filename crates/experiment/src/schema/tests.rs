use super::{Key, Shape, keys, schema};
use crate::{Experiment, names};
use document::{asked_keys, parse};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every section, with enough keys that its reader asks for all of them.
const EVERYTHING: &str = r#"
title = "Every section"
duration = "9s"
[advise]
[quick]
[measure]
[host.a]
up = { rate = { trace = "x" }, loss = { model = "gilbert-elliott", p = "1%", r = 0.3 } }
[host.b]
up = { loss = 0, delay = [{ at = "0s", value = "1ms" }, { at = "1s", ramp_to = "9ms", over = "2s" }] }
down = { rate = "1Mbit/s", queue = "pfifo limit 9" }
[host.c.wifi]
cell = "home"
distance = "3m"
fading = { deviation = "3dB", coherence = "1s" }
[host.d.lte]
distance = "100m"
[wifi.home]
ap = { tx_power = "20dBm" }
aggregation = { ampdu_frames = 8 }
path_loss = { wall = "5dB" }
[lte.city]
path_loss = { exponent = 3 }
shadowing = { deviation = "8dB" }
[lte.city.bearer.calls]
filter = [{ dscp = "af41" }]
[defaults.call]
controller = "gcc:draft-02"
[call.one]
from = "a"
to = "b"
dscp = { audio = "ef", video = 34 }
audio = { spurts = { spurt = "1s" } }
video = { fps = 25 }
[conference.room]
parties = ["a", "b"]
topology = "sfu"
sfu = "c"
[tcp.flow]
from = "a"
to = "b"
[program.p]
host = "a"
ping = { to = "b" }
[program.q]
host = "a"
iperf3 = { to = "b" }
[program.r]
host = "a"
upload = { to = "b" }
[users.city]
present = 1
lifetime = "9s"
peer = "a"
host = { down = { jitter = "1ms" } }
call = {}
web = { pages = 1, page_size = "1kB", reading = ["1s", "2s"] }
[strategy]
kind = "enterprise"
lines = ["b.down"]
calls = ["one"]
class = { rate = "20%" }
[[axis]]
name = "n"
points = [{ label = "x" }]
"#;

/// Changes of [`EVERYTHING`] that make readers ask for other keys.
const VARIANTS: [(&str, &str); 10] = [
    ("rate = { trace = \"x\" }, ", ""),
    ("loss = 0,", "jitter = { model = \"uniform\", most = \"1ms\" },"),
    ("loss = 0,", "jitter = { model = \"half-normal\", deviation = \"1ms\" },"),
    ("loss = 0,", "jitter = { model = \"exponential\", mean = \"1ms\" },"),
    ("[lte.city]\n", "[lte.city]\nfast_fading = { trace = \"x\" }\n"),
    ("distance = \"100m\"\n[wifi", "[wifi"),
    ("topology = \"sfu\"\nsfu = \"c\"", "topology = \"mesh\""),
    ("video = { fps = 25 }", "video = { frames = \"x\" }"),
    ("[quick]", "[quick]\nset = {}"),
    ("reading = [\"1s\", \"2s\"]", "reading = { mean = \"1s\" }"),
];

fn documents() -> Vec<String> {
    let complete = EVERYTHING.replacen(VARIANTS[0].0, VARIANTS[0].1, 1);
    let sites = "[lte.city]\nsites = 7\nhandover = { hysteresis = \"3dB\" }\n";
    let sites = complete.replace("[lte.city]\n", sites).replace("distance = \"100m\"\n", "");
    let variants = VARIANTS.iter().map(|(old, new)| complete.replacen(old, new, 1));
    let ims = include_str!("../../../../experiments/ims/dedicated-bearer.toml").to_owned();
    variants.chain([EVERYTHING.to_owned(), complete.clone(), sites, ims]).collect()
}

/// The tables of the schema that a value at this path can be.
fn tables(shape: Shape, path: &[&str]) -> Vec<&'static [&'static [Key]]> {
    match (shape, path) {
        (Shape::Either(shapes), _) => {
            shapes.iter().flat_map(|shape| tables(*shape, path)).collect()
        }
        (Shape::List(item), _) => tables(*item, path),
        (Shape::OverTime(_), []) => vec![&keys::CHANGE],
        (Shape::Table(groups), []) => vec![groups],
        (Shape::Named(value), [_, rest @ ..]) => tables(*value, rest),
        (Shape::Table(groups), [first, rest @ ..]) => {
            let key = groups.iter().copied().flatten().find(|key| key.name == *first);
            key.map_or(Vec::new(), |key| tables(key.shape, rest))
        }
        _ => Vec::new(),
    }
}

#[test]
fn the_schema_has_the_keys_that_the_readers_ask_for() {
    let mut asked = BTreeSet::new();
    for text in documents() {
        asked.extend(asked_keys(|| drop(Experiment::parse(&text, "x.toml"))));
    }
    let (mut missing, mut found) = (Vec::new(), BTreeSet::new());
    for (path, name) in &asked {
        let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
        let tables = tables(Shape::Table(&keys::FILE), &parts);
        let known = tables.iter().copied().flatten().copied();
        let known: Vec<&Key> = known.flatten().filter(|key| key.name == *name).collect();
        // A conference gives its calls these keys, and refuses them in the file.
        let is_given =
            parts.first() == Some(&"conference") && ["from", "to", "two_way"].contains(name);
        if known.is_empty() && !is_given {
            missing.push(format!("{path}: {name}"));
        }
        found.extend(known.into_iter().map(std::ptr::from_ref));
    }
    assert!(missing.is_empty(), "the schema does not have {missing:#?}");
    let mut unread = Vec::new();
    unread_keys("", &keys::FILE, &found, &mut unread);
    unread.sort_unstable();
    unread.dedup();
    assert!(unread.is_empty(), "no reader asks for {unread:#?}");
}

/// Collects the keys of the schema that are not in `found`.
fn unread_keys(
    path: &str,
    groups: &[&'static [Key]],
    found: &BTreeSet<*const Key>,
    unread: &mut Vec<String>,
) {
    for key in groups.iter().copied().flatten() {
        let path = format!("{path}.{}", key.name);
        if !found.contains(&std::ptr::from_ref(key)) {
            unread.push(path.clone());
        }
        inner_tables(key.shape, &mut |inner| unread_keys(&path, inner, found, unread));
    }
}

fn inner_tables(shape: Shape, visit: &mut impl FnMut(&'static [&'static [Key]])) {
    match shape {
        Shape::Table(groups) => visit(groups),
        Shape::Named(inner) | Shape::List(inner) => inner_tables(*inner, visit),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| inner_tables(*shape, visit)),
        _ => {}
    }
}

#[test]
fn every_built_in_experiment_is_valid() {
    let schema = schema();
    for name in names() {
        let text = Experiment::open(name).unwrap().text;
        let document = to_json(&parse(&text).unwrap().value);
        assert_eq!(error(&schema, &document, ""), None, "{name}");
    }
}

#[test]
fn unknown_keys_kinds_and_words_are_refused() {
    let schema = schema();
    let refused = |text: &str| error(&schema, &to_json(&parse(text).unwrap().value), "");
    assert_eq!(refused("title = \"t\""), None);
    assert_eq!(refused("runs = 1"), Some(": title is missing".into()));
    assert_eq!(refused("title = \"t\"\nrun = 1"), Some(".run is unknown".into()));
    assert_eq!(refused("title = 3"), Some(".title: 3 is of another type".into()));
    let call = "title = \"t\"\n[call.main]\n";
    let wrong = |line: &str| refused(&format!("{call}{line}")).unwrap_or_default();
    assert_eq!(wrong("fec = \"ulpfec\""), ".call.main.fec: \"ulpfec\" is not a known word");
    assert!(wrong("audio = \"g711\"").starts_with(".call.main.audio: "));
    assert_eq!(wrong("video = { fps = 25 }"), "");
    assert!(!wrong("video = { rate = 25 }").is_empty());
}

fn to_json(value: &document::Value) -> Value {
    match value {
        document::Value::Text(text) => json!(text),
        document::Value::Integer(number) => json!(number),
        document::Value::Real(number) => json!(number),
        document::Value::Bool(value) => json!(value),
        document::Value::List(items) => items.iter().map(|item| to_json(&item.value)).collect(),
        document::Value::Table(table) => {
            table.iter().map(|(key, node)| (key.to_owned(), to_json(&node.value))).collect()
        }
    }
}

/// Why the value at `path` does not match the schema, for the keywords that the schema uses.
fn error(schema: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let errors: Option<Vec<String>> =
            alternatives.iter().map(|schema| error(schema, value, path)).collect();
        return errors.and_then(|errors| errors.into_iter().next());
    }
    if let Some(words) = schema["enum"].as_array() {
        return (!words.contains(value)).then(|| format!("{path}: {value} is not a known word"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let has_type = |name: &&str| match *name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    if !types.is_empty() && !types.iter().any(has_type) {
        return Some(format!("{path}: {value} is of another type"));
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(key).is_none() {
            return Some(format!("{path}: {key} is missing"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(error) = schema.get("items").and_then(|items| error(items, item, path)) {
            return Some(error);
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        let known = schema["properties"].get(key).or_else(|| schema.get("additionalProperties"));
        match known {
            Some(Value::Bool(false)) => return Some(format!("{path} is unknown")),
            Some(known) => {
                if let Some(error) = error(known, inner, &path) {
                    return Some(error);
                }
            }
            None => {}
        }
    }
    None
}

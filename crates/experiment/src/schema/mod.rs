//! A JSON Schema of experiment files, for editors. The tables in `keys` list the keys of every
//! section; a test compares them with the keys that the readers of this crate ask for.

mod keys;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

/// A key of a table.
struct Key {
    name: &'static str,
    shape: Shape,
    /// The meaning of the key.
    doc: &'static str,
}

const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, doc }
}

/// The values that a key may have.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    Whole,
    Number,
    Texts,
    /// A text with a unit, described by [`document::FromNode::WHAT`].
    Quantity(&'static str),
    /// A text or a number.
    Share,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A value over time: a constant or a list of steps and ramps.
    OverTime(&'static Shape),
    /// A table with the keys of these groups.
    Table(&'static [&'static [Key]]),
    /// A table whose keys are names.
    Named(&'static Shape),
    List(&'static Shape),
    Either(&'static [Shape]),
    /// A table with any keys.
    AnyTable,
    Anything,
}

/// The schema of experiment files (JSON Schema 2020-12). Values are checked only as far as their
/// kind and their words; `Experiment::parse` checks the rest. Only `title` is required, because an
/// axis or `[defaults]` can give the other keys.
#[must_use]
pub fn schema() -> Value {
    let mut schema = Shape::Table(&keys::FILE).to_json();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Weir experiment");
    schema["required"] = json!(["title"]);
    schema
}

impl Shape {
    fn to_json(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Whole => json!({ "type": "integer", "minimum": 0 }),
            Self::Number => json!({ "type": "number" }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Quantity(what) => json!({ "type": "string", "description": what }),
            Self::Share => json!({ "type": ["string", "number"] }),
            Self::Word(words) => json!({ "enum": words }),
            Self::OverTime(value) => {
                let mut entries = Self::Table(&keys::CHANGE).to_json();
                for name in ["value", "ramp_to"] {
                    entries["properties"][name] = value.to_json();
                }
                json!({ "anyOf": [value.to_json(), { "type": "array", "items": entries }] })
            }
            Self::Table(groups) => {
                let keys = groups.iter().copied().flatten();
                let properties: Map<String, Value> =
                    keys.map(|key| (key.name.to_owned(), key.to_json())).collect();
                json!({
                    "type": "object", "properties": properties, "additionalProperties": false
                })
            }
            Self::Named(value) => {
                json!({ "type": "object", "additionalProperties": value.to_json() })
            }
            Self::List(item) => json!({ "type": "array", "items": item.to_json() }),
            Self::Either(shapes) => {
                let shapes: Vec<Value> = shapes.iter().map(|shape| shape.to_json()).collect();
                json!({ "anyOf": shapes })
            }
            Self::AnyTable => json!({ "type": "object" }),
            Self::Anything => json!({}),
        }
    }
}

impl Key {
    fn to_json(&self) -> Value {
        let mut value = self.shape.to_json();
        let what = value.get("description").and_then(Value::as_str);
        let what = what.map_or(String::new(), |what| format!(" ({what})"));
        value["description"] = json!(format!("{}{what}", self.doc));
        value
    }
}

use serde_json::{Value, json};

/// The JSON schema of sweep files (JSON Schema 2020-12), for editors. Values are checked only as
/// far as their kind; [`Sweep::open`](super::Sweep::open) checks the rest.
#[must_use]
pub fn schema() -> Value {
    let text = |doc: &str| json!({ "type": "string", "description": doc });
    let whole = |doc: &str| json!({ "type": "integer", "minimum": 1, "description": doc });
    let number = |doc: &str| json!({ "type": "number", "description": doc });
    let any = |doc: &str| json!({ "type": "object", "description": doc });
    let parameter = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "key": text("the key of the experiments that varies, as for --set"),
            "keys": {
                "type": "array",
                "items": { "type": "string" },
                "description": "several keys that have the same value",
            },
            "label": text("the name in figures; default: that of the parameter"),
            "published": number("the published optimum, which figures mark"),
            "list": { "type": "array", "description": "the values" },
            "from": number("the least value of a range"),
            "to": number("the greatest value"),
            "points": whole("the number of values in a grid"),
            "scale": { "enum": ["linear", "log"], "description": "default: linear" },
            "unit": text("the unit behind each number: kbit/s"),
        },
    });
    let scenario = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["experiment", "objective"],
        "properties": {
            "experiment": text("the name of a built-in experiment, or a file beside this one"),
            "set": any("changed values of the experiment, as for --set"),
            "cell": any("the cell of the experiment's grid: a value for each axis"),
            "value": any("the metrics of each run, by name, as in a claim"),
            "objective": text("an expression (CEL) over the values and the parameters"),
        },
    });
    let figure = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["kind", "title", "x"],
        "properties": {
            "kind": { "enum": ["contour", "heatmap", "axis-line"] },
            "title": text("one line"),
            "caption": text("what to look at"),
            "x": text("the parameter of the horizontal axis"),
            "y": text("the parameter of the vertical axis of contour and heatmap"),
            "value": text(
                "the quantity: objective (default), SCENARIO.objective, SCENARIO.normalised or \
                 SCENARIO.VALUE"
            ),
            "label": text("the name of the quantity; default: that of value"),
        },
    });
    let named = |item: &Value| json!({ "type": "object", "additionalProperties": item });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weir sweep",
        "type": "object",
        "additionalProperties": false,
        "required": ["title", "parameter", "scenario"],
        "properties": {
            "title": text("one line"),
            "source": text("where the sweep was published"),
            "about": text("why its parameters are what they are"),
            "runs": whole("the number of seeds of each point; default: 1"),
            "seed": { "type": "integer", "minimum": 0, "description": "the first seed; default: 1" },
            "method": {
                "enum": ["grid", "latin hypercube", "sobol"],
                "description": "how the points are chosen; default: grid",
            },
            "samples": whole("the number of points of a Latin hypercube or Sobol sequence"),
            "objective": text(
                "an expression (CEL) over the scenarios and parameters; default: the sum of the \
                 normalised objectives"
            ),
            "figure": {
                "type": "array",
                "items": figure,
                "description": "the figures of the page; default: the objective over each pair \
                                of parameters and along each one",
            },
            "parameter": named(&parameter),
            "scenario": named(&scenario),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Sweep;
    use std::collections::BTreeSet;

    /// The keys that the reader asks for in a table.
    fn asked(table: &str) -> BTreeSet<String> {
        let text = r#"
title = "x"
method = "sobol"
samples = 2
[parameter.k]
key = "call.main.start_rate"
from = 1
to = 2
points = 2
[scenario.s]
experiment = "carlucci-2017/fig10"
cell = { bottleneck = "tbf" }
objective = "1.0"
"#;
        let all = document::asked_keys(|| drop(Sweep::parse(text, "x.toml")));
        all.into_iter().filter(|(path, _)| path == table).map(|(_, key)| key.to_owned()).collect()
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = schema();
        let keys = |table: &Value| -> BTreeSet<String> {
            table["properties"].as_object().unwrap().keys().cloned().collect()
        };
        let top = &schema["properties"];
        // The section of the experiment has keys of its own with the same path.
        assert!(keys(&schema).is_subset(&asked("")), "{:?}", keys(&schema));
        let parameter = &top["parameter"]["additionalProperties"];
        assert_eq!(keys(parameter), asked("parameter.k"));
        let scenario = &top["scenario"]["additionalProperties"];
        assert_eq!(keys(scenario), asked("scenario.s"));
    }
}

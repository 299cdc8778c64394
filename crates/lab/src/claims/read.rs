use super::template::Template;
use super::{CELLS, Claim, Factor};
use crate::expression::Expression;
use document::{Fault, FileError, Node, Reader, Value, parse};
use metrics::Request;

/// The claims of a file, and the factors that are tried for those that do not hold.
pub(super) fn read(text: &str, path: &str) -> Result<(Vec<Claim>, Vec<Factor>), FileError> {
    parse(text).and_then(|node| file(&node)).map_err(|fault| fault.in_file(path))
}

fn file(node: &Node) -> Result<(Vec<Claim>, Vec<Factor>), Fault> {
    let mut top = Reader::new(node, "")?;
    let paper: String = top.required("paper")?;
    let _title: String = top.required("title")?;
    let mut claims: Vec<Claim> = Vec::new();
    for node in top.items("claim")?.unwrap_or_default() {
        let claim = claim(node, &paper)?;
        if claims.iter().any(|other| other.id == claim.id) {
            let reason = format!("there are two claims with the id '{}'", claim.id);
            return Err(Fault::new(
                node.location,
                "claim.id",
                reason,
                "give each claim its own id",
            ));
        }
        claims.push(claim);
    }
    let factors = top.items("factor")?.unwrap_or_default().iter();
    let factors = factors.map(|node| Factor::read(node, &paper)).collect::<Result<_, Fault>>()?;
    top.finish()?;
    Ok((claims, factors))
}

fn claim(node: &Node, paper: &str) -> Result<Claim, Fault> {
    let mut table = Reader::new(node, "claim")?;
    let id: String = table.required("id")?;
    let values = table.entries("value")?;
    let values: Vec<(String, Request)> = values
        .into_iter()
        .map(|(name, node)| {
            Ok((name.to_owned(), Request::read(node, &format!("{id}.value.{name}"))?))
        })
        .collect::<Result<_, Fault>>()?;
    let mut names: Vec<String> = vec![CELLS.to_owned()];
    let mut measured = Vec::new();
    for (name, node) in table.entries("measured")? {
        measured
            .push((name.to_owned(), expression(node, &format!("{id}.measured.{name}"), &names)?));
        names.push(name.to_owned());
    }
    let holds = match table.node("holds") {
        Some(node) => expression(node, &format!("{id}.holds"), &names)?,
        None => {
            return Err(table.fault("holds", "missing", "give the expression that must be true"));
        }
    };
    let show = match table.optional::<String>("show")? {
        Some(text) => Some(
            Template::parse(&text, &names[1..])
                .map_err(|error| table.fault("show", error.to_string(), ""))?,
        ),
        None => None,
    };
    let (experiment, sweep): (Option<String>, Option<String>) =
        (table.optional("experiment")?, table.optional("sweep")?);
    let is_sweep = sweep.is_some();
    let experiment = match (experiment, sweep) {
        (Some(name), None) | (None, Some(name)) => name,
        (None, None) => return Err(table.missing("experiment", "the name of an experiment")),
        (Some(_), Some(_)) => {
            return Err(table.fault(
                "sweep",
                "experiment and sweep exclude each other",
                "write one",
            ));
        }
    };
    let claim = Claim {
        id,
        paper: paper.to_owned(),
        location: table.required("where")?,
        setting: table.required("setting")?,
        published: table.required("published")?,
        check: table.required("check")?,
        experiment,
        is_sweep,
        cells: cells(&mut table)?,
        note: table.or("note", String::new())?,
        note_as_printed: table.or("note_as_printed", String::new())?,
        values,
        measured,
        holds,
        show,
    };
    table.finish()?;
    Ok(claim)
}

/// The axes and values under `cell`.
fn cells(table: &mut Reader<'_>) -> Result<Vec<(String, String)>, Fault> {
    let path = table.path("cell");
    let entries = table.entries("cell")?.into_iter().map(|(axis, node)| {
        Ok((axis.to_owned(), document::read::<String>(node, &format!("{path}.{axis}"))?))
    });
    entries.collect()
}

fn expression(node: &Node, key: &str, names: &[String]) -> Result<Expression, Fault> {
    let Value::Text(text) = &node.value else {
        let reason = format!("{} where an expression is expected", node.value.what());
        return Err(Fault::new(node.location, key, reason, "write the expression in quotes"));
    };
    Expression::parse(text, names)
        .map_err(|error| Fault::new(node.location, key, error.to_string(), ""))
}

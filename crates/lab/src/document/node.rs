use super::{Fault, KeyPath, MAX_BYTES, Place};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Real(f64),
    Bool(bool),
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What it is, for messages.
    pub(crate) const fn what(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    fn walk<'t>(
        &'t mut self,
        path: &mut Vec<&'t str>,
        change: &mut impl FnMut(&[&str], &mut Self),
    ) {
        match self {
            Self::Table(table) => table.walk(path, change),
            Self::List(items) => items.iter_mut().for_each(|item| item.value.walk(path, change)),
            value => change(path, value),
        }
    }
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    entries: Vec<(String, Node)>,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> + Clone {
        self.entries.iter().map(|(name, node)| (name.as_str(), node))
    }

    pub(crate) fn insert(&mut self, key: &str, node: Node) {
        match self.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = node,
            None => self.entries.push((key.to_owned(), node)),
        }
    }

    /// Adds entries whose keys are not there.
    pub(crate) fn extend(&mut self, entries: impl Iterator<Item = (String, Node)>) {
        self.entries.extend(entries);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|(name, _)| keep(name));
    }

    /// Shows every value that is neither list nor table to `change`, with the names on the way to
    /// it; lists have none.
    pub(crate) fn walk<'t>(
        &'t mut self,
        path: &mut Vec<&'t str>,
        change: &mut impl FnMut(&[&str], &mut Value),
    ) {
        for (name, node) in &mut self.entries {
            path.push(name);
            node.value.walk(path, change);
            path.pop();
        }
    }

    /// Changes the table at `key`, if there is one.
    pub(crate) fn edit(&mut self, key: &str, change: impl FnOnce(&mut Self)) {
        let value =
            self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| &mut node.value);
        if let Some(Value::Table(inner)) = value {
            change(inner);
        }
    }

    /// Changes every table in this one.
    pub(crate) fn edit_all(&mut self, change: impl Fn(&mut Self)) {
        for (_, node) in &mut self.entries {
            if let Value::Table(inner) = &mut node.value {
                change(inner);
            }
        }
    }

    /// Puts `node` at `path`; tables on the way that are missing are made. A `*` on the way is
    /// every key that is there.
    pub(crate) fn set(&mut self, path: &KeyPath, node: &Node) -> Result<(), Fault> {
        self.set_at(path, 0, node)
    }

    fn set_at(&mut self, path: &KeyPath, depth: usize, node: &Node) -> Result<(), Fault> {
        let part = path.parts()[depth].as_str();
        let names = if part == "*" {
            self.entries.iter().map(|(name, _)| name.clone()).collect()
        } else {
            vec![part.to_owned()]
        };
        for name in names {
            if depth + 1 == path.parts().len() {
                self.insert(&name, node.clone());
                continue;
            }
            if self.get(&name).is_none() {
                self.insert(
                    &name,
                    Node { value: Value::Table(Self::default()), place: node.place },
                );
            }
            let next = self.entries.iter_mut().find(|(key, _)| *key == name).map(|(_, node)| node);
            let Some(Node { value: Value::Table(inner), .. }) = next else {
                let reason = format!("{} is not a table", KeyPath::of(&path.parts()[..=depth]));
                return Err(Fault::new(
                    node.place,
                    path.to_string(),
                    reason,
                    "see the keys of the file",
                ));
            };
            inner.set_at(path, depth + 1, node)?;
        }
        Ok(())
    }

    /// Takes over what is in `defaults` and not here, tables within tables too.
    pub(crate) fn merge_defaults(&mut self, defaults: &Self) {
        for (key, default) in defaults.iter() {
            match self
                .entries
                .iter_mut()
                .find(|(name, _)| name == key)
                .map(|(_, node)| &mut node.value)
            {
                None => self.insert(key, default.clone()),
                Some(Value::Table(own)) => {
                    if let Value::Table(inner) = &default.value {
                        own.merge_defaults(inner);
                    }
                }
                Some(_) => {}
            }
        }
    }
}

/// The tree of a TOML text.
pub(crate) fn parse(text: &str) -> Result<Node, Fault> {
    if text.len() > MAX_BYTES {
        let reason = format!("the file is larger than {} kB", MAX_BYTES / 1000);
        return Err(Fault::new(Place::Line(1), "", reason, "put data into files of their own"));
    }
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        Fault::new(Place::Line(line), "", format!("not TOML: {}", error.message()), "")
    })?;
    Ok(Node { value: Value::Table(lines.table(table.get_ref())?), place: Place::Line(1) })
}

/// Where each line starts.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(ends).collect() }
    }

    fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Table, Fault> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            // A table's own span is that of its header; a value's line is that of its key, which is
            // what a reader looks for.
            let place = Place::Line(self.at(key.span().start));
            entries.push((
                key.get_ref().to_string(),
                self.node(value.get_ref(), place, key.get_ref())?,
            ));
        }
        Ok(Table { entries })
    }

    fn node(&self, value: &DeValue<'_>, place: Place, key: &str) -> Result<Node, Fault> {
        let fault = |reason: String, mend: &str| Fault::new(place, key, reason, mend);
        let value = match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => Value::Integer(
                i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).map_err(
                    |_| fault(format!("{number} is out of range"), "write a smaller number"),
                )?,
            ),
            DeValue::Float(number) => {
                Value::Real(number.as_str().replace('_', "").parse().map_err(|_| {
                    fault(format!("{number} is not a number"), "write a number such as 0.5")
                })?)
            }
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(_) => {
                return Err(fault("a date".into(), "write times as texts such as \"25ms\""));
            }
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item: &Spanned<_>| {
                        self.node(item.get_ref(), Place::Line(self.at(item.span().start)), key)
                    })
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Node { value, place })
    }
}

/// The value of one text that is not in a file: TOML if it is that, else the text itself.
pub(crate) fn parse_value(text: &str) -> Node {
    let place = Place::CommandLine;
    let parsed = DeValue::parse(text).ok().filter(|_| text.len() <= MAX_BYTES);
    let lines = Lines { starts: Vec::new() };
    let node = parsed.and_then(|value| lines.node(value.get_ref(), place, "").ok());
    let mut node = node.unwrap_or(Node { value: Value::Text(text.to_owned()), place });
    node.place_all(place);
    node
}

impl Node {
    fn place_all(&mut self, place: Place) {
        self.place = place;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.place_all(place)),
            Value::Table(table) => {
                table.entries.iter_mut().for_each(|(_, node)| node.place_all(place))
            }
            _ => {}
        }
    }
}

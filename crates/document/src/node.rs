use super::{Fault, KeyPath, Location, MAX_BYTES};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub location: Location,
}

/// A value of TOML, without dates.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A boolean.
    Bool(bool),
    /// An array.
    List(Vec<Node>),
    /// A table, inline or with a header.
    Table(Table),
}

impl Value {
    /// The kind of value with its article, for messages: "a text".
    pub const fn what(&self) -> &'static str {
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
pub struct Table {
    entries: Vec<(String, Node)>,
}

impl Table {
    /// The value under `key`, if there is one.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The value under `key`, to be changed, if there is one.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// All entries, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> + Clone {
        self.entries.iter().map(|(name, node)| (name.as_str(), node))
    }

    /// Puts `node` under `key`; replaces the value that is there.
    pub fn insert(&mut self, key: &str, node: Node) {
        match self.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = node,
            None => self.entries.push((key.to_owned(), node)),
        }
    }

    /// Appends entries, whose keys must not be in the table yet.
    pub fn extend(&mut self, entries: impl Iterator<Item = (String, Node)>) {
        self.entries.extend(entries);
    }

    /// Keeps the entries whose keys `keep` accepts.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|(name, _)| keep(name));
    }

    /// The values that are neither lists nor tables nor in lists, with their paths, in the order of
    /// the file.
    pub fn leaves(&self) -> Vec<(KeyPath, Value)> {
        fn add(table: &Table, path: &mut Vec<String>, all: &mut Vec<(KeyPath, Value)>) {
            for (name, node) in table.iter() {
                path.push(name.to_owned());
                match &node.value {
                    Value::Table(inner) => add(inner, path, all),
                    Value::List(_) => {}
                    value => all.push((KeyPath::of(path), value.clone())),
                }
                path.pop();
            }
        }
        let mut all = Vec::new();
        add(self, &mut Vec::new(), &mut all);
        all
    }

    /// Calls `change` for every value that is neither a list nor a table, with the keys of its
    /// path. Items of a list add no key.
    pub fn walk<'t>(
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

    /// Changes the table under `key`; does nothing if there is none.
    pub fn edit(&mut self, key: &str, change: impl FnOnce(&mut Self)) {
        if let Some(Value::Table(inner)) = self.get_mut(key).map(|node| &mut node.value) {
            change(inner);
        }
    }

    /// Changes every table that is a value of this one.
    pub fn edit_all(&mut self, change: impl Fn(&mut Self)) {
        for (_, node) in &mut self.entries {
            if let Value::Table(inner) = &mut node.value {
                change(inner);
            }
        }
    }

    /// Changes every table in the list under `key`; does nothing if there is none.
    pub fn edit_items(&mut self, key: &str, change: impl Fn(&mut Self)) {
        if let Some(Value::List(items)) = self.get_mut(key).map(|node| &mut node.value) {
            for item in items {
                if let Value::Table(inner) = &mut item.value {
                    change(inner);
                }
            }
        }
    }

    /// Puts `node` at `path` and adds the tables that are missing. The part `*` stands for every
    /// existing key.
    ///
    /// # Errors
    /// If a value on the path is not a table.
    pub fn set(&mut self, path: &KeyPath, node: &Node) -> Result<(), Fault> {
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
                    Node { value: Value::Table(Self::default()), location: node.location },
                );
            }
            let Some(Node { value: Value::Table(inner), .. }) = self.get_mut(&name) else {
                let reason = format!("{} is not a table", KeyPath::of(&path.parts()[..=depth]));
                return Err(Fault::new(
                    node.location,
                    path.to_string(),
                    reason,
                    "see the keys in the file",
                ));
            };
            inner.set_at(path, depth + 1, node)?;
        }
        Ok(())
    }

    /// Adds the entries of `defaults` that this table does not have, in nested tables too.
    pub fn merge_defaults(&mut self, defaults: &Self) {
        for (key, default) in defaults.iter() {
            match self.get_mut(key).map(|node| &mut node.value) {
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

/// Parses a TOML text of at most [`MAX_BYTES`].
///
/// # Errors
/// If the text is longer, is not TOML, or has a date or a number out of range.
pub fn parse(text: &str) -> Result<Node, Fault> {
    if text.len() > MAX_BYTES {
        let reason = format!("the file is larger than {} kB", MAX_BYTES / 1000);
        return Err(Fault::new(Location::Line(1), "", reason, "move data into separate files"));
    }
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.number(span.start));
        let message = error.message().replace('\n', " ");
        Fault::new(Location::Line(line), "", format!("not TOML: {message}"), "")
    })?;
    Ok(Node { value: Value::Table(lines.table(table.get_ref())?), location: Location::Line(1) })
}

/// The byte offset at which each line starts.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(end, _)| end + 1);
        Self { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The number, from 1, of the line that has the byte at `offset`.
    fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Table, Fault> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            // A value gets the line of its key. The span of a table is its header.
            let location = Location::Line(self.number(key.span().start));
            entries.push((
                key.get_ref().to_string(),
                self.node(value.get_ref(), location, key.get_ref())?,
            ));
        }
        Ok(Table { entries })
    }

    fn node(&self, value: &DeValue<'_>, location: Location, key: &str) -> Result<Node, Fault> {
        let fault =
            |reason: String, suggestion: &str| Fault::new(location, key, reason, suggestion);
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
                return Err(fault(
                    "a date is not allowed".into(),
                    "write a time as a text such as \"25ms\"",
                ));
            }
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item: &Spanned<_>| {
                        self.node(
                            item.get_ref(),
                            Location::Line(self.number(item.span().start)),
                            key,
                        )
                    })
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Node { value, location })
    }
}

/// Parses a value of the command line as TOML; a text that is not TOML is taken as it is.
pub fn parse_value(text: &str) -> Node {
    let location = Location::CommandLine;
    let parsed = DeValue::parse(text).ok().filter(|_| text.len() <= MAX_BYTES);
    let lines = Lines { starts: Vec::new() };
    let node = parsed.and_then(|value| lines.node(value.get_ref(), location, "").ok());
    let mut node = node.unwrap_or(Node { value: Value::Text(text.to_owned()), location });
    node.set_location(location);
    node
}

impl Node {
    fn set_location(&mut self, location: Location) {
        self.location = location;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.set_location(location)),
            Value::Table(table) => {
                table.entries.iter_mut().for_each(|(_, node)| node.set_location(location));
            }
            _ => {}
        }
    }
}

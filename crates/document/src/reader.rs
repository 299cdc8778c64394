use super::{Fault, Location, Node, Table, Value};
use std::str::FromStr;
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Frequency, Metres, Ratio, Speed, Time};

/// Reads the keys of a table, and refuses those that nobody asked for.
pub struct Reader<'a> {
    table: &'a Table,
    /// The path from the top of the file, with a dot at its end unless it is the top.
    prefix: String,
    location: Location,
    known: Vec<&'static str>,
}

/// What a value can be read as.
pub trait FromNode: Sized {
    /// What is expected, for messages: "a text".
    const WHAT: &'static str;
    /// The value, or what is wrong with it; `None` when it is of another kind.
    fn from_node(node: &Node) -> Option<Result<Self, String>>;
}

impl<'a> Reader<'a> {
    /// A reader of `node`, which must be a table; `key` is its path.
    pub fn new(node: &'a Node, key: &str) -> Result<Self, Fault> {
        let Value::Table(table) = &node.value else {
            let reason = format!("{} where a table belongs", node.value.what());
            return Err(Fault::new(
                node.location,
                key,
                reason,
                "write { … }, or a section of its own",
            ));
        };
        let prefix = if key.is_empty() { String::new() } else { format!("{key}.") };
        Ok(Self { table, prefix, location: node.location, known: Vec::new() })
    }

    /// The path of one of its keys.
    pub fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Where it was written.
    pub const fn location(&self) -> Location {
        self.location
    }

    /// The raw value of a key, if it is there.
    pub fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    /// The value of a key, if it is there.
    pub fn optional<T: FromNode>(&mut self, key: &'static str) -> Result<Option<T>, Fault> {
        let path = self.path(key);
        self.node(key).map(|node| read(node, &path)).transpose()
    }

    /// The value of a key, or `default`.
    pub fn or<T: FromNode>(&mut self, key: &'static str, default: T) -> Result<T, Fault> {
        Ok(self.optional(key)?.unwrap_or(default))
    }

    /// The value of a key that must be there.
    pub fn required<T: FromNode>(&mut self, key: &'static str) -> Result<T, Fault> {
        match self.optional(key)? {
            Some(value) => Ok(value),
            None => Err(self.missing(key, T::WHAT)),
        }
    }

    /// The error about a key that is missing, or misspelt.
    pub fn missing(&self, key: &str, what: &str) -> Fault {
        let strangers = self.table.iter().filter(|(name, _)| !self.known.contains(name));
        match nearest(key, strangers.map(|(name, _)| name)) {
            Some(slip) => self.fault(slip, "there is no such key", format!("did you mean {key}?")),
            None => Fault::new(
                self.location,
                self.path(key),
                "it is missing",
                format!("write {key} = {what}"),
            ),
        }
    }

    /// A table's entries by name, in the order of the file; empty if it is missing.
    pub fn entries(&mut self, key: &'static str) -> Result<Vec<(&'a str, &'a Node)>, Fault> {
        let path = self.path(key);
        match self.node(key) {
            None => Ok(Vec::new()),
            Some(Node { value: Value::Table(table), .. }) => Ok(table.iter().collect()),
            Some(node) => Err(mismatch(node, &path, "a table")),
        }
    }

    /// A list's items, if it is there.
    pub fn items(&mut self, key: &'static str) -> Result<Option<&'a [Node]>, Fault> {
        let path = self.path(key);
        match self.node(key) {
            None => Ok(None),
            Some(Node { value: Value::List(items), .. }) => Ok(Some(items)),
            Some(node) => Err(mismatch(node, &path, "a list")),
        }
    }

    /// An error about one of its keys, at the key's line.
    pub fn fault(
        &self,
        key: &str,
        reason: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Fault {
        let location = self.table.get(key).map_or(self.location, |node| node.location);
        Fault::new(location, self.path(key), reason, suggestion)
    }

    /// Refuses the keys that were not asked for.
    pub fn finish(self) -> Result<(), Fault> {
        let stranger = self.table.iter().find(|(key, _)| !self.known.contains(key));
        let Some((key, node)) = stranger else { return Ok(()) };
        let suggestion = did_you_mean(key, self.known.iter().copied(), "the keys here are");
        Err(Fault::new(node.location, self.path(key), "there is no such key", suggestion))
    }
}

/// The value of `node` as a `T`.
pub fn read<T: FromNode>(node: &Node, path: &str) -> Result<T, Fault> {
    match T::from_node(node) {
        None => Err(mismatch(node, path, T::WHAT)),
        Some(Err(reason)) => Err(Fault::new(node.location, path, reason, "")),
        Some(Ok(value)) => Ok(value),
    }
}

fn mismatch(node: &Node, path: &str, what: &str) -> Fault {
    Fault::new(node.location, path, format!("{} where {what} belongs", node.value.what()), "")
}

/// The candidate that `word` is most likely a slip of, if one is near.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The suggestion for a word that is none of those known: the nearest, or all of them after
/// `introduction`.
pub fn did_you_mean<'c>(
    word: &str,
    known: impl Iterator<Item = &'c str> + Clone,
    introduction: &str,
) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("{introduction} {}", known.collect::<Vec<_>>().join(", ")),
    }
}

fn quantity<T: FromStr<Err: ToString>>(node: &Node) -> Option<Result<T, String>> {
    match &node.value {
        Value::Text(text) => Some(text.parse().map_err(|error: T::Err| error.to_string())),
        _ => None,
    }
}

macro_rules! quantities {
    ($($type:ty: $what:literal,)+) => {
        $(impl FromNode for $type {
            const WHAT: &'static str = $what;
            fn from_node(node: &Node) -> Option<Result<Self, String>> {
                quantity(node)
            }
        })+
    };
}

quantities! {
    String: "a text",
    Bitrate: "a rate such as \"1.5Mbit/s\"",
    Duration: "a time such as \"25ms\"",
    Time: "a time such as \"40s\"",
    Bytes: "a size such as \"1200B\"",
    Dbm: "a power such as \"20dBm\"",
    Decibels: "a ratio of powers such as \"3dB\"",
    Metres: "a distance such as \"12m\"",
    Speed: "a speed such as \"30km/h\"",
    Frequency: "a frequency such as \"2GHz\"",
}

impl FromNode for Ratio {
    const WHAT: &'static str = "a share such as \"5%\"";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        match node.value {
            Value::Real(number) => Some(
                number.to_string().parse().map_err(|error: units::ParseError| error.to_string()),
            ),
            Value::Integer(number) => Some(
                number.to_string().parse().map_err(|error: units::ParseError| error.to_string()),
            ),
            _ => quantity(node),
        }
    }
}

impl FromNode for bool {
    const WHAT: &'static str = "true or false";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        match node.value {
            Value::Bool(value) => Some(Ok(value)),
            _ => None,
        }
    }
}

impl FromNode for f64 {
    const WHAT: &'static str = "a number";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        match node.value {
            Value::Real(value) if value.is_finite() => Some(Ok(value)),
            Value::Real(value) => Some(Err(format!("{value} is not a finite number"))),
            #[expect(clippy::cast_precision_loss, reason = "no setting needs 16 digits")]
            Value::Integer(value) => Some(Ok(value as f64)),
            _ => None,
        }
    }
}

impl FromNode for u64 {
    const WHAT: &'static str = "a whole number";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        match node.value {
            Value::Integer(value) => {
                Some(Self::try_from(value).map_err(|_| format!("{value} is below zero")))
            }
            _ => None,
        }
    }
}

impl FromNode for u32 {
    const WHAT: &'static str = "a whole number";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        match node.value {
            Value::Integer(value) => Some(
                Self::try_from(value)
                    .map_err(|_| format!("{value} is not between 0 and {}", Self::MAX)),
            ),
            _ => None,
        }
    }
}

impl FromNode for Vec<String> {
    const WHAT: &'static str = "a list of texts";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        let Value::List(items) = &node.value else { return None };
        let text = |item: &Node| match &item.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        items.iter().map(text).collect::<Option<_>>().map(Ok)
    }
}

use super::{Fault, Location, Node, Problem, Table, Value, ValueError, asked};
use std::str::FromStr;
use units::{
    Bitrate, Bytes, Dbm, Decibels, Duration, Frequency, Metres, ParseError, Ratio, Speed, Time,
};

/// Reads the keys of a table and refuses the keys that were not asked for.
pub struct Reader<'a> {
    table: &'a Table,
    /// The table's path with a dot at its end; empty for the whole file.
    prefix: String,
    location: Location,
    known: Vec<&'static str>,
}

/// A type that a value can be read as.
pub trait FromNode: Sized {
    /// What is expected, for messages: "a text".
    const WHAT: &'static str;
    /// The value, or why it cannot be read; `None` if the node is of another kind, such as a number
    /// where a text is expected.
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>>;
}

impl<'a> Reader<'a> {
    /// A reader of `node`, whose path is `key`.
    ///
    /// # Errors
    /// If `node` is not a table.
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

    /// The path of one of the table's keys.
    pub fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Where the table was written.
    pub const fn location(&self) -> Location {
        self.location
    }

    /// The unread value of a key; `None` if the key is missing.
    pub fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        if !self.known.contains(&key) {
            self.known.push(key);
            asked::note(self.prefix.trim_end_matches('.'), key);
        }
        self.table.get(key)
    }

    /// The value of a key; `None` if the key is missing.
    ///
    /// # Errors
    /// If the value cannot be read as a `T`.
    pub fn optional<T: FromNode>(&mut self, key: &'static str) -> Result<Option<T>, Fault> {
        let path = self.path(key);
        self.node(key).map(|node| read(node, &path)).transpose()
    }

    /// The value of a key; `default` if the key is missing.
    ///
    /// # Errors
    /// If the value cannot be read as a `T`.
    pub fn or<T: FromNode>(&mut self, key: &'static str, default: T) -> Result<T, Fault> {
        Ok(self.optional(key)?.unwrap_or(default))
    }

    /// The value of a key that must not be missing.
    ///
    /// # Errors
    /// If the key is missing, or its value cannot be read as a `T`.
    pub fn required<T: FromNode>(&mut self, key: &'static str) -> Result<T, Fault> {
        match self.optional(key)? {
            Some(value) => Ok(value),
            None => Err(self.missing(key, T::WHAT)),
        }
    }

    /// The error about a key that is missing or misspelt. `what` is the value that it needs.
    pub fn missing(&self, key: &str, what: &str) -> Fault {
        let unknown = self.table.iter().filter(|(name, _)| !self.known.contains(name));
        match nearest(key, unknown.map(|(name, _)| name)) {
            Some(typo) => self.fault(typo, "there is no such key", format!("did you mean {key}?")),
            None => Fault::new(
                self.location,
                self.path(key),
                "it is missing",
                format!("write {key} = {what}"),
            ),
        }
    }

    /// The entries of the table under `key`, in the order of the file; empty if the key is missing.
    ///
    /// # Errors
    /// If the value is not a table.
    pub fn entries(&mut self, key: &'static str) -> Result<Vec<(&'a str, &'a Node)>, Fault> {
        let path = self.path(key);
        match self.node(key) {
            None => Ok(Vec::new()),
            Some(Node { value: Value::Table(table), .. }) => Ok(table.iter().collect()),
            Some(node) => Err(mismatch(node, &path, "a table")),
        }
    }

    /// The items of the list under `key`; `None` if the key is missing.
    ///
    /// # Errors
    /// If the value is not a list.
    pub fn items(&mut self, key: &'static str) -> Result<Option<&'a [Node]>, Fault> {
        let path = self.path(key);
        match self.node(key) {
            None => Ok(None),
            Some(Node { value: Value::List(items), .. }) => Ok(Some(items)),
            Some(node) => Err(mismatch(node, &path, "a list")),
        }
    }

    /// An error about one of the table's keys, at the key's line.
    pub fn fault(
        &self,
        key: &str,
        reason: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Fault {
        let location = self.table.get(key).map_or(self.location, |node| node.location);
        Fault::new(location, self.path(key), reason, suggestion)
    }

    /// An error about one of the table's keys, at the key's line.
    pub fn problem(&self, key: &str, problem: impl Into<Problem>) -> Fault {
        let Problem { reason, suggestion } = problem.into();
        self.fault(key, reason, suggestion)
    }

    /// Refuses the keys that were not asked for.
    ///
    /// # Errors
    /// If there is such a key.
    pub fn finish(self) -> Result<(), Fault> {
        let unknown = self.table.iter().find(|(key, _)| !self.known.contains(key));
        let Some((key, node)) = unknown else { return Ok(()) };
        let suggestion = did_you_mean(key, self.known.iter().copied(), "the keys here are");
        Err(Fault::new(node.location, self.path(key), "there is no such key", suggestion))
    }
}

/// Reads `node`, whose path is `path`, as a `T`.
///
/// # Errors
/// If the node is of another kind, or its value is not valid.
pub fn read<T: FromNode>(node: &Node, path: &str) -> Result<T, Fault> {
    match T::from_node(node) {
        None => Err(mismatch(node, path, T::WHAT)),
        Some(Err(error)) => Err(Fault::new(node.location, path, error.to_string(), "")),
        Some(Ok(value)) => Ok(value),
    }
}

fn mismatch(node: &Node, path: &str, what: &str) -> Fault {
    Fault::new(node.location, path, format!("{} where {what} belongs", node.value.what()), "")
}

/// The candidate that is most similar to `word`; `None` if no candidate is similar.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The suggestion for a word that is not among the `known` ones: the most similar one, or else all
/// of them after `introduction`.
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

fn quantity<T: FromStr<Err: Into<ValueError>>>(node: &Node) -> Option<Result<T, ValueError>> {
    match &node.value {
        Value::Text(text) => Some(text.parse().map_err(T::Err::into)),
        _ => None,
    }
}

macro_rules! quantities {
    ($($type:ty: $what:literal,)+) => {
        $(impl FromNode for $type {
            const WHAT: &'static str = $what;
            fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
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
    const WHAT: &'static str = "a share such as \"5%\" or 0.05";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        match &node.value {
            Value::Real(number) => Some(Self::try_from(*number).map_err(ValueError::from)),
            #[expect(clippy::cast_precision_loss, reason = "only 0 and 1 are shares")]
            Value::Integer(number) => {
                Some(Self::try_from(*number as f64).map_err(ValueError::from))
            }
            Value::Text(text) => Some(text.parse().map_err(|error| bare_share(text, error))),
            _ => None,
        }
    }
}

/// The error about a text that is no share. For a number without a unit, the suggestion is the
/// probable share: below 1 a share of 1, otherwise a percentage.
fn bare_share(text: &str, error: ParseError) -> ValueError {
    let Ok(number) = text.trim().parse::<f64>() else { return error.into() };
    let share =
        if number < 1.0 { Ratio::try_from(number) } else { format!("{}%", text.trim()).parse() };
    let Ok(share) = share else { return error.into() };
    ValueError::BareShare { text: text.to_owned(), percent: share, number: share.as_f64() }
}

impl FromNode for bool {
    const WHAT: &'static str = "true or false";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        match node.value {
            Value::Bool(value) => Some(Ok(value)),
            _ => None,
        }
    }
}

impl FromNode for f64 {
    const WHAT: &'static str = "a number";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        match node.value {
            Value::Real(value) if value.is_finite() => Some(Ok(value)),
            Value::Real(value) => Some(Err(ValueError::NotFinite(value))),
            #[expect(clippy::cast_precision_loss, reason = "no setting needs 16 digits")]
            Value::Integer(value) => Some(Ok(value as f64)),
            _ => None,
        }
    }
}

impl FromNode for u64 {
    const WHAT: &'static str = "a whole number";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        match node.value {
            Value::Integer(value) => {
                Some(Self::try_from(value).map_err(|_| ValueError::Negative(value)))
            }
            _ => None,
        }
    }
}

impl FromNode for u32 {
    const WHAT: &'static str = "a whole number";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        match node.value {
            Value::Integer(value) => {
                Some(Self::try_from(value).map_err(|_| ValueError::OutOfRange(value, Self::MAX)))
            }
            _ => None,
        }
    }
}

impl FromNode for Vec<String> {
    const WHAT: &'static str = "a list of texts";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        let Value::List(items) = &node.value else { return None };
        let text = |item: &Node| match &item.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        items.iter().map(text).collect::<Option<_>>().map(Ok)
    }
}

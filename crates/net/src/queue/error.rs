//! Errors of queue configurations.

/// Why a text is no queue configuration. The message names the fault and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueConfigError {
    /// The text is empty.
    #[error("no queue is named: {KNOWN}")]
    Empty,
    /// The first word names no queue discipline. The known ones are
    /// [`QueueConfig::DISCIPLINES`](crate::QueueConfig::DISCIPLINES).
    #[error("no queue '{word}': {KNOWN}")]
    UnknownDiscipline {
        /// The word.
        word: String,
    },
    /// A parameter of a discipline is wrong.
    #[error("{discipline}: {problem}; write '{usage}'")]
    Parameter {
        /// The discipline.
        discipline: String,
        /// What is wrong.
        problem: ParameterError,
        /// The discipline's parameters.
        usage: &'static str,
    },
    /// A discipline or a `tc` command cannot be used here, or a tree of disciplines does not fit
    /// together.
    #[error("{0}")]
    Structure(String),
    /// A line of a script is wrong.
    #[error("line {line}: {error}")]
    AtLine {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        error: Box<Self>,
    },
}

/// What is wrong with a parameter of a queue discipline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The discipline has no such parameter.
    #[error("no parameter '{0}'")]
    Unknown(String),
    /// The text ends after the parameter's name.
    #[error("'{0}' needs a value")]
    NoValue(String),
    /// The value cannot be read.
    #[error("'{word}' is not a value of '{key}'")]
    NotAValue {
        /// The parameter.
        key: String,
        /// The word in the value's place.
        word: String,
    },
    /// The value is zero.
    #[error("'{0}' cannot be 0")]
    Zero(String),
    /// A value is out of range, or parameters contradict each other.
    #[error("{0}")]
    Constraint(String),
}

impl QueueConfigError {
    pub(super) fn new(reason: String) -> Self {
        Self::Structure(reason)
    }

    /// The same error, in this line of a script.
    pub(super) fn at_line(self, line: usize) -> Self {
        Self::AtLine { line, error: Box::new(self) }
    }
}

const KNOWN: &str = "there are 'pfifo limit PACKETS', 'bfifo limit BYTES', 'droptail limit 150ms|125kB|100p', 'codel', 'fq_codel', 'pie', 'red', 'sfq', 'dualpi2', 'cake', 'tbf' and 'unlimited'; a tree with htb is written as tc commands: 'tc qdisc add …'";

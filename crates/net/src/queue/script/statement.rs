//! One `tc` command: what is added, where, and with which parameters.

use super::super::error::QueueConfigError;

/// A handle or class ID such as `1:10`; both parts are hexadecimal (tc(8), CLASS IDs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) major: u16,
    pub(super) minor: u16,
}

/// The kind of object that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Qdisc,
    Class,
    Filter,
}

/// A command that adds an object.
pub(super) struct Statement<'a> {
    pub(super) object: Object,
    /// An existing object may be overwritten.
    pub(super) replace: bool,
    pub(super) dev: &'a str,
    pub(super) root: bool,
    pub(super) parent: Option<Handle>,
    /// `handle` of a qdisc, `classid` of a class.
    pub(super) handle: Option<Handle>,
    /// The IP version of a filter: `true` is IPv6, `None` is both.
    pub(super) ipv6: Option<bool>,
    pub(super) prio: Option<u16>,
    /// The object's kind, such as `htb`, and its parameters.
    pub(super) words: &'a [&'a str],
}

fn wrong(reason: &str) -> QueueConfigError {
    QueueConfigError::new(reason.to_owned())
}

impl<'a> Statement<'a> {
    /// Parses the words after `tc`; `None` for a command that deletes.
    pub(super) fn read(words: &'a [&'a str]) -> Result<Option<Self>, QueueConfigError> {
        let (object, verb, mut rest) = match words {
            [object, verb, rest @ ..] => (*object, *verb, rest),
            _ => {
                return Err(wrong(
                    "the command is incomplete; write 'tc qdisc|class|filter add dev NAME …'",
                ));
            }
        };
        let object = match object {
            "qdisc" => Object::Qdisc,
            "class" => Object::Class,
            "filter" => Object::Filter,
            other => {
                return Err(wrong(&format!(
                    "'tc {other}' is not supported; write 'tc qdisc', 'tc class' or 'tc filter'"
                )));
            }
        };
        match verb {
            "add" | "replace" | "change" => {}
            "del" | "delete" => return Ok(None),
            other => {
                return Err(wrong(&format!(
                    "'{other}' is not supported; write 'add', or leave the line out"
                )));
            }
        }
        let mut statement = Self {
            object,
            replace: verb != "add",
            dev: "",
            root: false,
            parent: None,
            handle: None,
            ipv6: None,
            prio: None,
            words: &[],
        };
        while let [key, tail @ ..] = rest {
            let value = || match tail {
                [value, ..] => Ok(*value),
                [] => Err(wrong(&format!("'{key}' needs a value"))),
            };
            let used = match *key {
                "dev" => {
                    statement.dev = value()?;
                    2
                }
                "root" => {
                    statement.root = true;
                    1
                }
                "parent" => {
                    statement.parent = Some(handle(key, value()?)?);
                    2
                }
                "classid" if object == Object::Class => {
                    statement.handle = Some(handle(key, value()?)?);
                    2
                }
                "handle" if object == Object::Qdisc => {
                    statement.handle = Some(handle(key, value()?)?);
                    2
                }
                // The handle of a filter is not used.
                "handle" if object == Object::Filter => {
                    value()?;
                    2
                }
                "ingress" | "clsact" => {
                    return Err(wrong(
                        "incoming packets wait in no queue of this device; leave the line out",
                    ));
                }
                "stab" => {
                    let fix =
                        "write 'overhead BYTES' and 'mpu BYTES' in the classes of htb, or in cake";
                    return Err(wrong(&format!("'stab' is not supported; {fix}")));
                }
                "protocol" | "proto" if object == Object::Filter => {
                    statement.ipv6 = protocol(value()?)?;
                    2
                }
                "prio" | "preference" | "pref" | "priority" if object == Object::Filter => {
                    let prio = value()?;
                    let number = prio.parse().ok().filter(|&number| number > 0);
                    let number = number
                        .ok_or_else(|| wrong(&format!("'{prio}' is not a prio: 1 to 65535")))?;
                    statement.prio = Some(number);
                    2
                }
                _ => break,
            };
            rest = &rest[used..];
        }
        statement.words = rest;
        if statement.dev.is_empty() {
            return Err(wrong("'dev' is missing; write 'dev eth0'"));
        }
        if statement.words.is_empty() {
            return Err(wrong("the kind is missing, such as 'htb' or 'fq_codel'"));
        }
        Ok(Some(statement))
    }
}

fn handle(key: &str, word: &str) -> Result<Handle, QueueConfigError> {
    let half = |digits: &str| match digits {
        "" => Ok(0),
        digits => u16::from_str_radix(digits, 16),
    };
    // The handle of a qdisc may be written without a colon.
    if key == "handle"
        && let Ok(major) = half(word)
    {
        return Ok(Handle { major, minor: 0 });
    }
    match word.split_once(':').map(|(major, minor)| (half(major), half(minor))) {
        Some((Ok(major), Ok(minor))) => Ok(Handle { major, minor }),
        _ => Err(wrong(&format!("'{word}' is not a value of '{key}'; write '1:' or '1:10'"))),
    }
}

/// The IP version of a filter: `Some(true)` is IPv6, `None` is both.
fn protocol(word: &str) -> Result<Option<bool>, QueueConfigError> {
    match word {
        "all" => Ok(None),
        "ip" => Ok(Some(false)),
        "ipv6" => Ok(Some(true)),
        other => Err(wrong(&format!("protocol '{other}' is not supported; write 'ip'"))),
    }
}

//! A broker's file.

use super::config::{Class, Config, Relay, Service};
use super::{MAX_CAPACITY, MAX_RELAYS, is_name};
use crate::secret::Secret;
use document::{self, Fault, FileError, Location, Node, Reader, read as read_value};
use std::fs;
use std::io::Read;
use std::path::Path;
use units::Duration;

/// How long a session lasts unless the file says otherwise.
const LIFETIME: Duration = Duration::from_secs(3_600);
/// The longest that one may last: coturn itself takes any expiry.
const MAX_LIFETIME: Duration = Duration::from_secs(86_400);
/// The shortest shared secret, characters.
pub(super) const MIN_SECRET: usize = 16;
/// The longest file of a secret, bytes.
const LONGEST_SECRET: u64 = 1_024;

impl Config {
    /// Reads a broker's file. The secrets are in files beside it or in the environment, never in
    /// itself.
    ///
    /// # Errors
    /// When it cannot be read or is wrong: where, and how to fix it.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let name = path.display().to_string();
        let text = read_text(path, document::MAX_BYTES as u64)
            .map_err(|reason| FileError::file(&name, reason, "see docs/guides/relays.md"))?;
        let beside = |file: &str| {
            let path = path.parent().unwrap_or(Path::new("")).join(file);
            read_secret(&path).map_err(|reason| format!("{}: {reason}", path.display()))
        };
        let variable = |name: &str| std::env::var(name).ok();
        Self::parse(&text, &name, beside, variable)
    }

    fn parse(
        text: &str,
        path: &str,
        beside: impl Fn(&str) -> Result<String, String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, FileError> {
        let node = document::parse(text).map_err(|fault| fault.in_file(path))?;
        let secrets = Secrets { beside: &beside, variable: &variable };
        config(&node, &secrets).map_err(|fault| fault.in_file(path))
    }
}

/// Where secrets come from.
struct Secrets<'a> {
    beside: &'a dyn Fn(&str) -> Result<String, String>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

/// The text of a file that holds a secret or a token.
///
/// # Errors
/// When it cannot be read, or is longer than any.
pub fn read_secret(path: &Path) -> Result<String, String> {
    read_text(path, LONGEST_SECRET)
}

/// A file's text, if it is no longer than it may be.
fn read_text(path: &Path, longest: u64) -> Result<String, String> {
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(longest + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > longest { Err(format!("longer than {longest} bytes")) } else { Ok(text) }
}

fn config(node: &Node, secrets: &Secrets<'_>) -> Result<Config, Fault> {
    let mut top = Reader::new(node, "")?;
    let lifetime: Duration = top.or("lifetime", LIFETIME)?;
    if !(Duration::from_secs(1)..=MAX_LIFETIME).contains(&lifetime) {
        let reason = format!("{lifetime} is out of range");
        return Err(top.fault("lifetime", reason, "write a time from \"1s\" to \"86400s\""));
    }
    let relays = sections(&mut top, "relay")?;
    let relays = relays
        .into_iter()
        .map(|(name, node)| relay(name, node, secrets))
        .collect::<Result<_, _>>()?;
    let services = sections(&mut top, "service")?;
    let services =
        services.into_iter().map(|(name, node)| service(name, node)).collect::<Result<_, _>>()?;
    top.finish()?;
    Ok(Config { lifetime, relays, services })
}

/// The sections of a kind, of which there must be some.
fn sections<'a>(
    top: &mut Reader<'a>,
    key: &'static str,
) -> Result<Vec<(&'a str, &'a Node)>, Fault> {
    let entries = top.entries(key)?;
    if (1..=MAX_RELAYS).contains(&entries.len()) {
        return Ok(entries);
    }
    let reason = format!("{} sections [{key}.NAME]", entries.len());
    Err(top.fault(key, reason, format!("write 1 to {MAX_RELAYS} of them")))
}

fn relay(name: &str, node: &Node, secrets: &Secrets<'_>) -> Result<Relay, Fault> {
    let key = format!("relay.{name}");
    check_name(name, node.location, &key)?;
    let mut table = Reader::new(node, &key)?;
    let urls = urls(&mut table)?;
    let secret = secret(&mut table, secrets)?;
    let class = match table.or("class", "basic".to_owned())?.as_str() {
        "basic" => Class::Basic,
        "specialised" => Class::Specialised,
        other => {
            return Err(table.fault(
                "class",
                format!("no class '{other}'"),
                "write basic or specialised",
            ));
        }
    };
    let capacity = table.required("capacity")?;
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        let reason = format!("{capacity} sessions");
        return Err(table.fault("capacity", reason, format!("write 1 to {MAX_CAPACITY}")));
    }
    let distances = distances(&mut table)?;
    table.finish()?;
    Ok(Relay { name: name.to_owned(), urls, secret, class, capacity, distances })
}

/// `distance = { REGION = "5ms" }`
fn distances(table: &mut Reader<'_>) -> Result<Vec<(String, Duration)>, Fault> {
    let path = table.path("distance");
    let one = |(region, node): (&str, &Node)| {
        let path = format!("{path}.{region}");
        check_name(region, node.location, &path)?;
        Ok((region.to_owned(), read_value(node, &path)?))
    };
    table.entries("distance")?.into_iter().map(one).collect()
}

fn service(name: &str, node: &Node) -> Result<Service, Fault> {
    let key = format!("service.{name}");
    check_name(name, node.location, &key)?;
    let mut table = Reader::new(node, &key)?;
    let specialised = table.or("specialised", false)?;
    table.finish()?;
    Ok(Service { name: name.to_owned(), specialised })
}

fn check_name(name: &str, location: Location, key: &str) -> Result<(), Fault> {
    if is_name(name) {
        return Ok(());
    }
    let suggestion = "write 1 to 64 letters, digits and the signs . - _ @";
    Err(Fault::new(location, key, format!("'{name}' is no name"), suggestion))
}

fn urls(table: &mut Reader<'_>) -> Result<Vec<String>, Fault> {
    let suggestion = "write urls = [\"turn:HOST:3478?transport=udp\"]";
    let Some(items) = table.items("urls")?.filter(|items| !items.is_empty()) else {
        return Err(table.fault("urls", "a relay without an address", suggestion));
    };
    let path = table.path("urls");
    let one = |item: &Node| {
        let url: String = read_value(item, &path)?;
        let rest = url.strip_prefix("turn:").or_else(|| url.strip_prefix("turns:"));
        match rest {
            Some(rest) if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(url)
            }
            _ => Err(Fault::new(
                item.location,
                &path,
                format!("'{url}' is no TURN address"),
                suggestion,
            )),
        }
    };
    items.iter().map(one).collect()
}

fn secret(table: &mut Reader<'_>, secrets: &Secrets<'_>) -> Result<Secret, Fault> {
    let suggestion = "write secret_file = \"FILE\" or secret_env = \"VARIABLE\"";
    let file: Option<String> = table.optional("secret_file")?;
    let variable: Option<String> = table.optional("secret_env")?;
    let (key, word) = match (file, variable) {
        (Some(file), None) => (
            "secret_file",
            (secrets.beside)(&file).map_err(|reason| table.fault("secret_file", reason, ""))?,
        ),
        (None, Some(name)) => {
            let unset =
                || table.fault("secret_env", format!("the variable {name} is not set"), "set it");
            ("secret_env", (secrets.variable)(&name).ok_or_else(unset)?)
        }
        (None, None) => {
            return Err(table.fault("secret_file", "a relay without a secret", suggestion));
        }
        (Some(_), Some(_)) => return Err(table.fault("secret_env", "two secrets", suggestion)),
    };
    let word = word.trim();
    if word.len() < MIN_SECRET {
        let reason = format!("a secret of {} characters", word.len());
        return Err(table.fault(
            key,
            reason,
            format!("make one of {MIN_SECRET} or more, as 'openssl rand -hex 16' does"),
        ));
    }
    Ok(Secret::new(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
lifetime = "600s"

[relay.paris]
urls = ["turn:192.0.2.1:3478?transport=udp"]
secret_file = "paris.secret"
class = "specialised"
capacity = 2
distance = { brittany = "5ms" }

[service.meet]
specialised = true
"#;

    fn parse(text: &str) -> Result<Config, String> {
        let beside = |file: &str| match file {
            "paris.secret" => Ok("0123456789abcdef\n".to_owned()),
            "short" => Ok("0123".to_owned()),
            _ => Err("no such file".to_owned()),
        };
        let variable = |name: &str| (name == "PARIS").then(|| "fedcba9876543210".to_owned());
        Config::parse(text, "broker.toml", beside, variable).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_says_which_relays_and_services_there_are() {
        let config = parse(GOOD).unwrap();
        let relay = &config.relays[0];
        assert_eq!(
            (relay.name.as_str(), relay.class, relay.capacity),
            ("paris", Class::Specialised, 2)
        );
        assert!(relay.secret.is("0123456789abcdef"), "without the end of the line");
        assert_eq!(relay.distance(Some("brittany")), Duration::from_millis(5));
        assert_eq!(relay.distance(Some("alsace")), relay.distance(None));
        assert!(config.services[0].specialised && config.lifetime == Duration::from_secs(600));
        let text = GOOD.replace("secret_file = \"paris.secret\"", "secret_env = \"PARIS\"");
        assert!(parse(&text).unwrap().relays[0].secret.is("fedcba9876543210"));
    }

    #[test]
    fn mistakes_are_named_with_their_suggestion() {
        let secret = "secret_file = \"paris.secret\"";
        for (old, new, part) in [
            ("600s", "0s", "broker.toml:2: lifetime: 0s is out of range; write a time from"),
            (
                "turn:192",
                "http:192",
                "relay.paris.urls: 'http:192.0.2.1:3478?transport=udp' is no TURN address",
            ),
            (secret, "", "relay.paris.secret_file: a relay without a secret; write secret_file"),
            (secret, "secret_file = \"none\"", "relay.paris.secret_file: no such file"),
            (secret, "secret_file = \"short\"", "a secret of 4 characters; make one of 16 or more"),
            (
                secret,
                "secret_env = \"ROME\"",
                "relay.paris.secret_env: the variable ROME is not set",
            ),
            (secret, "secret = \"0123456789abcdef\"", "a relay without a secret"),
            ("\"specialised\"", "\"special\"", "relay.paris.class: no class 'special'"),
            ("capacity = 2", "capacity = 0", "relay.paris.capacity: 0 sessions; write 1 to"),
            ("brittany", "\"a b\"", "relay.paris.distance.a b: 'a b' is no name"),
            ("[service.meet]\nspecialised = true", "", "service: 0 sections [service.NAME]"),
            ("specialised = true", "specialized = true", "did you mean specialised?"),
        ] {
            assert!(GOOD.contains(old), "{old}");
            let error = parse(&GOOD.replace(old, new)).unwrap_err();
            assert!(error.contains(part), "{error}");
            assert!(!error.contains("0123456789"), "{error}");
        }
    }
}

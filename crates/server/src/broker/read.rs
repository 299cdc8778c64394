//! Reads the broker's file.

use super::config::{Class, Config, Relay, Service};
use super::{MAX_CAPACITY, MAX_RELAYS, is_name};
use crate::secret::Secret;
use document::{self, Fault, FileError, Location, Node, Reader, read as read_value};
use std::cell::RefCell;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;
use units::Duration;

/// The default lifetime of a session.
const LIFETIME: Duration = Duration::from_secs(3_600);
/// The maximum lifetime of a session. coturn itself accepts any expiry.
const MAX_LIFETIME: Duration = Duration::from_secs(86_400);
/// The minimum length of a shared secret, characters.
pub(super) const MIN_SECRET: usize = 16;
/// The maximum length of a file with a secret, bytes.
const MAX_SECRET_BYTES: u64 = 1_024;
/// Why a name is not valid, as a suggestion.
const NAME_RULE: &str = "use 1 to 64 letters, digits and the characters . - _ @";

/// Why a file cannot be read. The text does not name the file.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The operating system reports an error, or the file is not UTF-8.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is too long.
    #[error("the file is longer than {max} bytes, which is the maximum")]
    TooLong {
        /// The maximum length, bytes.
        max: u64,
    },
}

/// A file with a secret that users other than its owner can read or change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0}: users other than the owner can {can} this file (mode {mode:03o}); run 'chmod 600 {0}'",
    .path.display()
)]
pub struct Exposed {
    path: PathBuf,
    /// The permission bits.
    mode: u32,
    can: &'static str,
}

impl Exposed {
    /// Checks the permissions of a file; `None` if they are right, or if this is not a file, as for
    /// a pipe.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mode = found.permissions().mode() & 0o777;
        let can = match (mode & 0o044 != 0, mode & 0o022 != 0) {
            (true, true) => "read and change",
            (true, false) => "read",
            (false, true) => "change",
            (false, false) => return None,
        };
        Some(Self { path: path.to_owned(), mode, can })
    }
}

impl Config {
    /// Reads a broker's file. The secrets of the relays are in other files, relative to its folder,
    /// or in the environment. Also returns which of these files other users can read or change.
    ///
    /// # Errors
    /// If a file cannot be read or has an error: the location, and a suggestion.
    pub fn open(path: &Path) -> Result<(Self, Vec<Exposed>), FileError> {
        let name = path.display().to_string();
        let text = read_text(path, document::MAX_BYTES as u64).map_err(|error| {
            FileError::file(&name, error.to_string(), "see docs/guides/relays.md")
        })?;
        let exposed = RefCell::new(Vec::new());
        let file = |path: &Path| {
            exposed.borrow_mut().extend(Exposed::find(path));
            read_secret(path)
        };
        let sources = SecretSources {
            folder: path.parent().unwrap_or(Path::new("")),
            file: &file,
            variable: &|name| std::env::var(name).ok(),
        };
        let config = Self::parse(&text, &name, &sources)?;
        Ok((config, exposed.take()))
    }

    fn parse(text: &str, path: &str, sources: &SecretSources<'_>) -> Result<Self, FileError> {
        let node = document::parse(text).map_err(|fault| fault.in_file(path))?;
        config(&node, sources).map_err(|fault| fault.in_file(path))
    }
}

/// How to get the secrets that a broker's file names.
struct SecretSources<'a> {
    /// The folder of the broker's file.
    folder: &'a Path,
    /// Reads the file at a path.
    file: &'a dyn Fn(&Path) -> Result<String, ReadError>,
    /// Reads an environment variable; `None` if it is not set.
    variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Reads a file that contains a secret or a token, at most 1,024 bytes.
///
/// # Errors
/// If the file cannot be read or is too long.
pub fn read_secret(path: &Path) -> Result<String, ReadError> {
    read_text(path, MAX_SECRET_BYTES)
}

fn read_text(path: &Path, max: u64) -> Result<String, ReadError> {
    let mut text = String::new();
    fs::File::open(path)?.take(max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max { Err(ReadError::TooLong { max }) } else { Ok(text) }
}

fn config(node: &Node, sources: &SecretSources<'_>) -> Result<Config, Fault> {
    let mut top = Reader::new(node, "")?;
    let lifetime: Duration = top.or("lifetime", LIFETIME)?;
    if !(Duration::from_secs(1)..=MAX_LIFETIME).contains(&lifetime) {
        let reason = format!("{lifetime} is out of range");
        return Err(top.fault("lifetime", reason, "use a time from \"1s\" to \"86400s\""));
    }
    let relays = sections(&mut top, "relay")?;
    let relays = relays
        .into_iter()
        .map(|(name, node)| relay(name, node, sources))
        .collect::<Result<_, _>>()?;
    let services = sections(&mut top, "service")?;
    let services =
        services.into_iter().map(|(name, node)| service(name, node)).collect::<Result<_, _>>()?;
    top.finish()?;
    Ok(Config { lifetime, relays, services })
}

/// The sections `[key.NAME]`: 1 to [`MAX_RELAYS`].
fn sections<'a>(
    top: &mut Reader<'a>,
    key: &'static str,
) -> Result<Vec<(&'a str, &'a Node)>, Fault> {
    let entries = top.entries(key)?;
    if (1..=MAX_RELAYS).contains(&entries.len()) {
        return Ok(entries);
    }
    let reason = format!("{} sections [{key}.NAME]", entries.len());
    Err(top.fault(key, reason, format!("write 1 to {MAX_RELAYS} sections")))
}

fn relay(name: &str, node: &Node, sources: &SecretSources<'_>) -> Result<Relay, Fault> {
    let key = format!("relay.{name}");
    check_name(name, node.location, &key)?;
    let mut table = Reader::new(node, &key)?;
    let urls = urls(&mut table)?;
    let secret = secret(&mut table, sources)?;
    let class = match table.or("class", "basic".to_owned())?.as_str() {
        "basic" => Class::Basic,
        "specialised" => Class::Specialised,
        other => {
            return Err(table.fault(
                "class",
                format!("'{other}' is not a class"),
                "use basic or specialised",
            ));
        }
    };
    let capacity = table.required("capacity")?;
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        let reason = format!("{capacity} sessions is out of range");
        return Err(table.fault("capacity", reason, format!("use 1 to {MAX_CAPACITY}")));
    }
    let distances = distances(&mut table)?;
    table.finish()?;
    Ok(Relay { name: name.to_owned(), urls, secret, class, capacity, distances })
}

/// Reads `distance = { REGION = "5ms" }`.
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
    Err(Fault::new(location, key, format!("'{name}' is not a valid name"), NAME_RULE))
}

fn urls(table: &mut Reader<'_>) -> Result<Vec<String>, Fault> {
    let suggestion = "write urls = [\"turn:HOST:3478?transport=udp\"]";
    let Some(items) = table.items("urls")?.filter(|items| !items.is_empty()) else {
        return Err(table.fault("urls", "the relay has no address", suggestion));
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
                format!("'{url}' is not a TURN URL"),
                suggestion,
            )),
        }
    };
    items.iter().map(one).collect()
}

fn secret(table: &mut Reader<'_>, sources: &SecretSources<'_>) -> Result<Secret, Fault> {
    let suggestion = "write secret_file = \"FILE\" or secret_env = \"VARIABLE\"";
    let file: Option<String> = table.optional("secret_file")?;
    let variable: Option<String> = table.optional("secret_env")?;
    let (key, text) = match (file, variable) {
        (Some(file), None) => {
            let path = sources.folder.join(file);
            let unreadable = |error| {
                let reason = format!("{}: {error}", path.display());
                table.fault("secret_file", reason, "name a file relative to the broker's file")
            };
            ("secret_file", (sources.file)(&path).map_err(unreadable)?)
        }
        (None, Some(name)) => {
            let unset = || {
                let reason = format!("the environment variable {name} is not set");
                table.fault("secret_env", reason, "set it before you start weir")
            };
            ("secret_env", (sources.variable)(&name).ok_or_else(unset)?)
        }
        (None, None) => {
            return Err(table.fault("secret_file", "the relay has no secret", suggestion));
        }
        (Some(_), Some(_)) => {
            return Err(table.fault("secret_env", "the relay has two secrets", suggestion));
        }
    };
    let text = text.trim();
    if text.len() < MIN_SECRET {
        return Err(table.fault(
            key,
            format!("the secret has {} characters, fewer than {MIN_SECRET}", text.len()),
            "make a secret with 'openssl rand -hex 16'",
        ));
    }
    Ok(Secret::new(text))
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
        let file = |path: &Path| match path.to_str() {
            Some("etc/paris.secret") => Ok("0123456789abcdef\n".to_owned()),
            Some("etc/short") => Ok("0123".to_owned()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file").into()),
        };
        let sources = SecretSources {
            folder: Path::new("etc"),
            file: &file,
            variable: &|name| (name == "PARIS").then(|| "fedcba9876543210".to_owned()),
        };
        Config::parse(text, "broker.toml", &sources).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_defines_relays_and_services() {
        let config = parse(GOOD).unwrap();
        let relay = &config.relays[0];
        assert_eq!(
            (relay.name.as_str(), relay.class, relay.capacity),
            ("paris", Class::Specialised, 2)
        );
        assert!(
            relay.secret.is("0123456789abcdef"),
            "the end of the line is not part of the secret"
        );
        assert_eq!(relay.distance(Some("brittany")), Duration::from_millis(5));
        assert_eq!(relay.distance(Some("alsace")), relay.distance(None));
        assert!(config.services[0].specialised && config.lifetime == Duration::from_secs(600));
        let text = GOOD.replace("secret_file = \"paris.secret\"", "secret_env = \"PARIS\"");
        assert!(parse(&text).unwrap().relays[0].secret.is("fedcba9876543210"));
    }

    #[test]
    fn a_secret_that_other_users_can_read_or_change_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("paris.secret");
        fs::write(&path, "0123456789abcdef").unwrap();
        let file = folder.path().join("broker.toml");
        fs::write(&file, GOOD).unwrap();
        for (mode, can) in
            [(0o644, "can read this"), (0o666, "can read and change"), (0o620, "can change")]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let found = Config::open(&file).unwrap().1;
            let [exposed] = &found[..] else { panic!("{mode:o}: {found:?}") };
            let text = exposed.to_string();
            let name = path.display();
            assert!(text.starts_with(&format!("{name}: users other than")), "{text}");
            assert!(text.contains(can) && text.contains(&format!("(mode {mode:o})")), "{text}");
            assert!(text.ends_with(&format!("run 'chmod 600 {name}'")), "{text}");
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(Config::open(&file).unwrap().1, []);
        }
        assert_eq!(Exposed::find(Path::new("/dev/null")), None, "not a file");
    }

    #[test]
    fn errors_name_location_and_suggestion() {
        let secret = "secret_file = \"paris.secret\"";
        for (old, new, part) in [
            ("600s", "0s", "broker.toml:2: lifetime: 0s is out of range; use a time from"),
            (
                "turn:192",
                "http:192",
                "relay.paris.urls: 'http:192.0.2.1:3478?transport=udp' is not a TURN URL",
            ),
            (secret, "", "relay.paris.secret_file: the relay has no secret; write secret_file"),
            (
                secret,
                "secret_file = \"none\"",
                "relay.paris.secret_file: etc/none: no such file; name a file",
            ),
            (
                secret,
                "secret_file = \"short\"",
                "the secret has 4 characters, fewer than 16; make a secret",
            ),
            (
                secret,
                "secret_env = \"ROME\"",
                "relay.paris.secret_env: the environment variable ROME is not set",
            ),
            (secret, "secret = \"0123456789abcdef\"", "the relay has no secret"),
            ("\"specialised\"", "\"special\"", "relay.paris.class: 'special' is not a class"),
            (
                "capacity = 2",
                "capacity = 0",
                "relay.paris.capacity: 0 sessions is out of range; use 1 to",
            ),
            ("brittany", "\"a b\"", "relay.paris.distance.a b: 'a b' is not a valid name"),
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

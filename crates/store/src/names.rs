//! Interned names of quantities. A recording holds them as static strings, so that each name that
//! is read from a file is leaked once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The longest accepted name, in bytes. The names of the simulator have under 40.
const MAX_LENGTH: usize = 256;
/// The largest number of names, so that a forged file cannot fill the memory. A run has about 100.
const MAX_NAMES: usize = 65_536;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has this many bytes.
    #[error("a name of {0} bytes; at most {MAX_LENGTH} are allowed")]
    TooLong(usize),
    /// There are too many different names.
    #[error("more than {MAX_NAMES} different names")]
    TooMany,
}

/// The static string that equals `name`.
///
/// # Errors
/// If `name` is too long, or is new and there are too many names.
pub fn intern(name: &str) -> Result<&'static str, NameError> {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if name.len() > MAX_LENGTH {
        return Err(NameError::TooLong(name.len()));
    }
    if names.len() >= MAX_NAMES {
        return Err(NameError::TooMany);
    }
    let interned: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(interned);
    Ok(interned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_static_string() {
        let first = intern("bytesReceived").unwrap();
        assert_eq!(first, "bytesReceived");
        assert!(std::ptr::eq(first, intern(&String::from("bytesReceived")).unwrap()));
        assert_eq!(intern(&"x".repeat(MAX_LENGTH + 1)), Err(NameError::TooLong(MAX_LENGTH + 1)));
    }
}

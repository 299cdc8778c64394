use document::{Fault, Location};

/// Refuses a name with other characters than letters, digits, `-` and `_`: a name becomes a part of
/// the names of records, whose parts are separated by dots.
pub(super) fn check_name(location: Location, path: &str, name: &str) -> Result<(), Fault> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_plain) {
        return Ok(());
    }
    let reason = format!("'{name}' is not a name");
    Err(Fault::new(location, path, reason, "use letters, digits, - and _"))
}

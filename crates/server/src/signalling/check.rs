//! Checks of room names.

use super::MAX_ROOM_NAME;

/// Whether this is a valid room name.
pub(super) fn is_room_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_ROOM_NAME).contains(&name.len()) && name.bytes().all(allowed)
}

/// Whether this has the form of a room's key, which the server makes
/// ([`Secret::random`](crate::Secret::random)).
pub(super) fn is_room_key(key: &str) -> bool {
    key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_names_have_at_most_64_lowercase_letters_digits_and_hyphens() {
        assert!(is_room_name("a") && is_room_name("monday-9") && is_room_name(&"x".repeat(64)));
        for name in ["", "A", "a b", "a/b", "..", "a_b", "ä", "a\n", &"x".repeat(65)] {
            assert!(!is_room_name(name), "{name}");
        }
    }
}

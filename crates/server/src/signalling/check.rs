//! Checks of hosts, origins and room names.

use super::MAX_ROOM_NAME;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};

/// The host of the request, if it is this machine.
///
/// In an attack by DNS rebinding, a foreign page makes its own name resolve to the loopback
/// address. Its requests have the foreign name as the host.
pub(super) fn local_host(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, second) = (hosts.next()?, hosts.next());
    let authority: Authority = host.to_str().ok()?.parse().ok()?;
    let is_local = matches!(
        authority.host().to_ascii_lowercase().as_str(),
        "localhost" | "127.0.0.1" | "[::1]"
    );
    (is_local && second.is_none() && !authority.as_str().contains('@')).then_some(authority)
}

/// Whether the request comes from a page of this server (RFC 6455 § 10.2).
pub(super) fn is_same_origin(headers: &HeaderMap, host: &Authority) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return false };
    origin.to_str().is_ok_and(|origin| origin == format!("http://{host}"))
}

/// Whether a page of another server sends a request that changes something, such as an HTML form
/// (RFC 9110 § 9.2.1, RFC 6454 § 7.3). Programs that are not browsers send no `Origin`.
pub(super) fn is_foreign_change(method: &Method, headers: &HeaderMap, host: &Authority) -> bool {
    !method.is_safe() && headers.contains_key(header::ORIGIN) && !is_same_origin(headers, host)
}

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

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"] {
            assert!(local_host(&with(header::HOST, host)).is_some(), "{host}");
        }
        let others = [
            "",
            "example.org",
            "localhost.example.org",
            "127.0.0.2",
            "10.0.0.1",
            "a@localhost",
            "[::2]",
        ];
        for host in others {
            assert!(local_host(&with(header::HOST, host)).is_none(), "{host}");
        }
        assert!(local_host(&HeaderMap::new()).is_none());
        let mut two = with(header::HOST, "localhost");
        two.append(header::HOST, "example.org".parse().unwrap());
        assert!(local_host(&two).is_none());
    }

    #[test]
    fn only_pages_of_this_server_may_open_a_web_socket() {
        let host: Authority = "localhost:8080".parse().unwrap();
        assert!(is_same_origin(&with(header::ORIGIN, "http://localhost:8080"), &host));
        let others = [
            "null",
            "http://localhost",
            "https://localhost:8080",
            "http://localhost:8081",
            "http://a.b",
        ];
        for origin in others {
            assert!(!is_same_origin(&with(header::ORIGIN, origin), &host), "{origin}");
        }
        assert!(!is_same_origin(&HeaderMap::new(), &host));
    }

    #[test]
    fn room_names_have_at_most_64_lowercase_letters_digits_and_hyphens() {
        assert!(is_room_name("a") && is_room_name("monday-9") && is_room_name(&"x".repeat(64)));
        for name in ["", "A", "a b", "a/b", "..", "a_b", "ä", "a\n", &"x".repeat(65)] {
            assert!(!is_room_name(name), "{name}");
        }
    }
}

//! What protects the pages of this server from other pages and other machines: checks of host and
//! origin, the token, and the security headers.

use crate::secret::Secret;
use axum::Router;
use axum::extract::Request;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::net::IpAddr;
use std::sync::Arc;

/// Who may send requests.
#[derive(Clone)]
pub(crate) enum Access {
    /// Whoever is on this machine.
    Local,
    /// Whoever knows the token, from any machine.
    Token(Arc<Secret>),
}

impl Access {
    /// The host of the request, if it is one that this server answers.
    fn host(&self, headers: &HeaderMap) -> Option<Authority> {
        match self {
            Self::Local => local_host(headers),
            Self::Token(_) => address_host(headers),
        }
    }

    /// Whether the request carries the token, if one is needed, as the password of Basic
    /// authentication (RFC 7617) with any user name: browsers ask for it and send it with every
    /// request, and pages cannot read it.
    fn is_admitted(&self, headers: &HeaderMap) -> bool {
        let Self::Token(token) = self else { return true };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(only), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, value)) = only.to_str().ok().and_then(|text| text.split_once(' ')) else {
            return false;
        };
        if scheme.eq_ignore_ascii_case("bearer") {
            return token.is(value.trim());
        }
        let decoded = BASE64_STANDARD.decode(value.trim()).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let password = decoded.as_deref().and_then(|text| text.split_once(':'));
        scheme.eq_ignore_ascii_case("basic")
            && password.is_some_and(|(_, password)| token.is(password))
    }
}

/// The router with the checks before every route.
pub(crate) fn guarded(router: Router, access: Access) -> Router {
    let guard = move |request: Request, next: Next| {
        let access = access.clone();
        async move { guard(&access, request, next).await }
    };
    router.layer(middleware::from_fn(guard))
}

/// Rejects requests that name another host, that lack the token, or with which the page of another
/// server would change something, and adds the security headers to every answer.
async fn guard(access: &Access, request: Request, next: Next) -> Response {
    let host = access.host(request.headers());
    let mut response = match (&host, access) {
        (None, Access::Local) => {
            let text =
                "This server answers only this machine: use localhost, 127.0.0.1 or [::1].\n";
            (StatusCode::MISDIRECTED_REQUEST, text).into_response()
        }
        (None, Access::Token(_)) => {
            let text = "This server has no name: use its address, such as http://192.0.2.1:8080.\n";
            (StatusCode::MISDIRECTED_REQUEST, text).into_response()
        }
        (Some(_), access) if !access.is_admitted(request.headers()) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"Weir: the token\"")];
            let text = "The token is missing or wrong. It is the password; any name will do.\n";
            (StatusCode::UNAUTHORIZED, challenge, text).into_response()
        }
        (Some(host), _) if is_foreign_change(request.method(), request.headers(), host) => {
            let text = "Only the pages of this server may send this request.\n";
            (StatusCode::FORBIDDEN, text).into_response()
        }
        (Some(_), _) => next.run(request).await,
    };
    secure(response.headers_mut(), host.as_ref());
    response
}

/// Sets those headers of the OWASP Secure Headers Project that concern a page without foreign
/// content.
fn secure(headers: &mut HeaderMap, host: Option<&Authority>) {
    const SAME: [(HeaderName, &str); 7] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(self), microphone=(self)"),
    ];
    for (name, value) in SAME {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = match host {
        // In older versions of Firefox 'self' does not include a WebSocket of the same host.
        Some(host) => format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' blob:; \
             connect-src 'self' ws://{host}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        None => "default-src 'none'; frame-ancestors 'none'".to_owned(),
    };
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        // The broker sets a stricter policy on its answers.
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    }
}

/// The host of the request, if it is this machine.
///
/// In an attack by DNS rebinding, a foreign page makes its own name resolve to the loopback
/// address. Its requests have the foreign name as the host.
pub(crate) fn local_host(headers: &HeaderMap) -> Option<Authority> {
    let authority = only_host(headers)?;
    let is_local = matches!(
        authority.host().to_ascii_lowercase().as_str(),
        "localhost" | "127.0.0.1" | "[::1]"
    );
    is_local.then_some(authority)
}

/// Whether the request comes from a page of this server (RFC 6455 § 10.2).
pub(crate) fn is_same_origin(headers: &HeaderMap, host: &Authority) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return false };
    origin.to_str().is_ok_and(|origin| origin == format!("http://{host}"))
}

/// Whether a page of another server sends a request that changes something, such as an HTML form
/// (RFC 9110 § 9.2.1, RFC 6454 § 7.3). Programs that are not browsers send no `Origin`.
pub(crate) fn is_foreign_change(method: &Method, headers: &HeaderMap, host: &Authority) -> bool {
    !method.is_safe() && headers.contains_key(header::ORIGIN) && !is_same_origin(headers, host)
}

/// The host of the request, if it is an address or `localhost`. A foreign name that resolves to
/// this machine (DNS rebinding) is neither.
fn address_host(headers: &HeaderMap) -> Option<Authority> {
    let authority = only_host(headers)?;
    let host = authority.host();
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    (is_address || host.eq_ignore_ascii_case("localhost")).then_some(authority)
}

/// The host of the request; `None` if there is none or more than one, or it has a user name.
fn only_host(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, second) = (hosts.next()?, hosts.next());
    let authority: Authority = host.to_str().ok()?.parse().ok()?;
    (second.is_none() && !authority.as_str().contains('@')).then_some(authority)
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
    fn with_a_token_every_address_is_accepted_and_no_name() {
        let access = Access::Token(Arc::new(Secret::new("0123456789abcdef")));
        for host in ["192.0.2.1:8080", "[2001:db8::1]:80", "10.0.0.1", "localhost:8080"] {
            assert!(access.host(&with(header::HOST, host)).is_some(), "{host}");
        }
        for host in ["example.org", "192.0.2.1.example.org", "a@192.0.2.1", ""] {
            assert!(access.host(&with(header::HOST, host)).is_none(), "{host}");
        }
    }

    #[test]
    fn the_token_is_the_password_or_a_bearer_token() {
        let access = Access::Token(Arc::new(Secret::new("0123456789abcdef")));
        let given = |value: &str| access.is_admitted(&with(header::AUTHORIZATION, value));
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        assert!(given("Bearer 0123456789abcdef") && given(&basic("anyone:0123456789abcdef")));
        for wrong in [
            "Bearer 0123456789abcde".to_owned(),
            basic("0123456789abcdef"),
            basic("anyone:wrong"),
            "Basic !".to_owned(),
            "0123456789abcdef".to_owned(),
        ] {
            assert!(!given(&wrong), "{wrong}");
        }
        assert!(!access.is_admitted(&HeaderMap::new()));
        assert!(Access::Local.is_admitted(&HeaderMap::new()));
    }
}

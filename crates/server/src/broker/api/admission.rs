//! Admission of requests: the token and the rate limits.

use super::messages::problem;
use super::{Api, MAX_CLIENTS, REQUEST_BURST, REQUESTS_PER_SECOND};
use crate::client::Client;
use crate::places::network;
use crate::secret::Secret;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The key of the rate limit that all unauthorised clients, and all clients beyond [`MAX_CLIENTS`],
/// share. No client has the unspecified address (RFC 4291 § 2.5.2).
const SHARED_KEY: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// The conditions for admitting a request.
pub(super) struct Admission {
    token: Option<Secret>,
    /// One leaky bucket per client (GCRA).
    rates: RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>,
}

impl Admission {
    pub(super) fn new(token: Option<Secret>) -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota =
            Quota::per_second(number(REQUESTS_PER_SECOND)).allow_burst(number(REQUEST_BURST));
        Self { token, rates: RateLimiter::hashmap(quota) }
    }

    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether a client is within its rate limit. At [`MAX_CLIENTS`] clients, those that have sent
    /// nothing recently are removed; if that is not enough, further clients share one rate limit.
    fn is_within_rate(&self, client: IpAddr) -> bool {
        if self.rates.len() >= MAX_CLIENTS {
            self.rates.retain_recent();
        }
        let key = if self.rates.len() < MAX_CLIENTS { network(client) } else { SHARED_KEY };
        self.rates.check_key(&key).is_ok()
    }

    /// Whether a request without the token is within the rate limit. All such requests share one
    /// limit, so that they neither displace authorised clients nor guess the token.
    fn is_unauthorised_within_rate(&self) -> bool {
        self.rates.check_key(&SHARED_KEY).is_ok()
    }

    /// Whether the request carries the token (RFC 6750 § 2.1); true if no token is required.
    fn is_authorised(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(only), None) = (given.next(), given.next()) else { return false };
        let parts = only.to_str().ok().and_then(|text| text.split_once(' '));
        parts.is_some_and(|(scheme, text)| {
            scheme.eq_ignore_ascii_case("bearer") && token.is(text.trim())
        })
    }
}

/// Admits a request or answers with the problem, and counts the answer.
pub(super) async fn admit(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let client = request.extensions().get::<Client>().map(|client| client.0.ip());
    let is_authorised = api.admission.is_authorised(request.headers());
    let is_within_rate = |client| {
        if is_authorised {
            api.admission.is_within_rate(client)
        } else {
            api.admission.is_unauthorised_within_rate()
        }
    };
    let mut response = if !client.is_some_and(is_within_rate) {
        let mut response =
            problem(StatusCode::TOO_MANY_REQUESTS, "too many requests; try again after one second");
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        // The client loses its connection, so that it does not keep the connection busy.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    } else if !is_authorised {
        let detail = "the broker's token is missing or wrong; send 'Authorization: Bearer TOKEN'";
        let mut response = problem(StatusCode::UNAUTHORIZED, detail);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        response
    } else {
        next.run(request).await
    };
    api.metrics.answered(response.status().as_u16());
    secure(response.headers_mut());
    response
}

/// Sets those headers of the OWASP Secure Headers Project that concern answers that contain secrets
/// and are not pages.
fn secure(headers: &mut HeaderMap) {
    const SAME: [(HeaderName, &str); 3] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ];
    for (name, value) in SAME {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (header::AUTHORIZATION, value.parse().unwrap())).collect()
    }

    #[test]
    fn only_the_right_token_is_authorised() {
        let admission = Admission::new(Some(Secret::new("0123456789abcdef")));
        assert!(admission.is_authorised(&with(&["Bearer 0123456789abcdef"])));
        assert!(admission.is_authorised(&with(&["bearer 0123456789abcdef"])));
        for values in [
            &[][..],
            &["0123456789abcdef"],
            &["Basic 0123456789abcdef"],
            &["Bearer"],
            &["Bearer 0123456789abcde"],
            &["Bearer 0123456789abcdeff"],
        ] {
            assert!(!admission.is_authorised(&with(values)), "{values:?}");
        }
        let mut two = with(&["Bearer 0123456789abcdef"]);
        two.append(header::AUTHORIZATION, "Bearer other".parse().unwrap());
        assert!(!admission.is_authorised(&two));
        assert!(Admission::new(None).is_authorised(&HeaderMap::new()));
    }

    #[test]
    fn the_rate_limit_is_per_ipv4_address_and_per_ipv6_network() {
        let admission = Admission::new(None);
        let allowed = |client: &str| admission.is_within_rate(client.parse().unwrap());
        let admitted = (0..REQUEST_BURST * 2).filter(|_| allowed("192.0.2.1")).count();
        assert!(
            (REQUEST_BURST as usize..REQUEST_BURST as usize * 2).contains(&admitted),
            "{admitted}"
        );
        assert!(allowed("192.0.2.2"));
        for host in 0..REQUEST_BURST * 2 {
            allowed(&format!("2001:db8::{host:x}"));
        }
        assert!(!allowed("2001:db8::ffff") && allowed("2001:db8:0:1::1"));
    }
}

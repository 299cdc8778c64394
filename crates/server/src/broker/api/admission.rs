//! Who is let in: clients that have the token and are within their rate.

use super::messages::problem;
use super::{Api, MAX_CLIENTS, REQUEST_BURST, REQUESTS_PER_SECOND};
use crate::client::Client;
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

/// The clients that are no single ones: no client has the unspecified address (RFC 4291 § 2.5.2).
const OTHERS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// What is asked of every request.
pub(super) struct Admission {
    token: Option<Secret>,
    /// A leaky bucket for each client (GCRA).
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

    /// Whether a client is within its rate. Those that have been quiet are forgotten before there
    /// are too many; the clients beyond share a rate.
    fn is_within_rate(&self, client: IpAddr) -> bool {
        if self.rates.len() >= MAX_CLIENTS {
            self.rates.retain_recent();
        }
        let key = if self.rates.len() < MAX_CLIENTS { network(client) } else { OTHERS };
        self.rates.check_key(&key).is_ok()
    }

    /// Whether one without the token may try again: all of them share a rate, so that they neither
    /// crowd out who has it nor guess it.
    fn may_try(&self) -> bool {
        self.rates.check_key(&OTHERS).is_ok()
    }

    /// Whether the request carries the token (RFC 6750 § 2.1), if one is asked for.
    fn is_authorised(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(one), None) = (given.next(), given.next()) else { return false };
        let words = one.to_str().ok().and_then(|text| text.split_once(' '));
        words.is_some_and(|(scheme, word)| {
            scheme.eq_ignore_ascii_case("bearer") && token.is(word.trim())
        })
    }
}

/// An IPv4 address, or the network of an IPv6 address, of which a host has as many as it likes (RFC
/// 4291 § 2.5.1).
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// Lets a request in, or says why not; counts it.
pub(super) async fn admit(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let client = request.extensions().get::<Client>().map(|client| client.0.ip());
    let is_authorised = api.admission.is_authorised(request.headers());
    let within_rate = |client| {
        if is_authorised { api.admission.is_within_rate(client) } else { api.admission.may_try() }
    };
    let mut response = if !client.is_some_and(within_rate) {
        let mut response =
            problem(StatusCode::TOO_MANY_REQUESTS, "too many requests; ask again in a second");
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        response
    } else if !is_authorised {
        let words = "this needs the broker's token: Authorization: Bearer TOKEN";
        let mut response = problem(StatusCode::UNAUTHORIZED, words);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        response
    } else {
        next.run(request).await
    };
    api.metrics.answered(response.status().as_u16());
    secure(response.headers_mut());
    response
}

/// The headers of the OWASP Secure Headers Project that concern answers with secrets and without
/// pages.
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
    fn only_the_token_opens() {
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
    fn a_client_has_its_rate_and_an_ipv6_network_is_one() {
        let admission = Admission::new(None);
        let allowed = |client: &str| admission.is_within_rate(client.parse().unwrap());
        let let_in = (0..REQUEST_BURST * 2).filter(|_| allowed("192.0.2.1")).count();
        assert!((REQUEST_BURST as usize..REQUEST_BURST as usize * 2).contains(&let_in), "{let_in}");
        assert!(allowed("192.0.2.2"));
        for host in 0..REQUEST_BURST * 2 {
            allowed(&format!("2001:db8::{host:x}"));
        }
        assert!(!allowed("2001:db8::ffff") && allowed("2001:db8:0:1::1"));
    }
}

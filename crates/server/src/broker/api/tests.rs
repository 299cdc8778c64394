//! Tests of the broker over real connections.

use super::super::{Broker, Class, Config, Relay, Service};
use super::{Api, MAX_BODY, REQUEST_BURST};
use crate::secret::Secret;
use crate::signalling::{Options, Server};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

const TOKEN: &str = "0123456789abcdef";

fn api(token: Option<&str>) -> Arc<Api> {
    let relay = Relay {
        name: "paris".to_owned(),
        urls: vec!["turn:192.0.2.1:3478?transport=udp".to_owned()],
        secret: Secret::new("a secret of some length"),
        class: Class::Specialised,
        capacity: 1,
        distances: Vec::new(),
    };
    let services = vec![Service { name: "meet".to_owned(), specialised: true }];
    let config =
        Config { lifetime: units::Duration::from_secs(600), relays: vec![relay], services };
    Api::new(Broker::new(config), token.map(Secret::new))
}

/// A server with two listeners: pages and broker, and only the broker.
fn serve(token: Option<&str>) -> (Server, [SocketAddr; 2]) {
    let [pages, standalone] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let addresses = [&pages, &standalone].map(|listener| listener.local_addr().unwrap());
    let api = api(token);
    let options = Options { routes: Some(api.router()), ..Options::default() };
    let server = Server::start(vec![pages], options).unwrap();
    server.add_router(standalone, api.standalone_router(), api.has_token()).unwrap();
    (server, addresses)
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Sends a request with the token, if there is one.
fn ask(address: SocketAddr, request: &str, token: Option<&str>, body: &str) -> Answer {
    ask_as(address, &address.to_string(), request, token, body)
}

/// Sends a request with this host name.
fn ask_as(
    address: SocketAddr,
    host: &str,
    request: &str,
    token: Option<&str>,
    body: &str,
) -> Answer {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let bearer = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    exchange(stream, host, request, &bearer, body)
}

/// Sends a request with this host name and these further headers.
fn exchange(mut stream: TcpStream, host: &str, request: &str, more: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{more}\r\n"
    );
    // A server that refuses a long request may close the connection before it has read everything.
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

const ASKED: &str = r#"{"service":"meet","user":"alice","specialised":true}"#;

#[test]
fn a_session_is_opened_counted_and_closed() {
    let (_server, addresses) = serve(None);
    for address in addresses {
        let given = ask(address, "POST /broker/v1/sessions", None, ASKED);
        assert_eq!(given.status, 201, "{}", given.body);
        assert!(given.head.contains("cache-control: no-store"), "{}", given.head);
        let session = given.json();
        assert_eq!(session["relay"], "paris");
        assert_eq!(session["dscp"], serde_json::json!({"audio": 46, "video": 34}));
        assert_eq!(
            (session["lifetime"].as_u64(), &session["specialised"]),
            (Some(600), &Value::Bool(true))
        );
        let server = &session["iceServers"][0];
        assert!(
            server["username"].as_str().unwrap().ends_with(":alice")
                && server["credential"].is_string()
        );
        assert_eq!(server["urls"][0], "turn:192.0.2.1:3478?transport=udp");
        let full = ask(address, "POST /broker/v1/sessions", None, ASKED);
        assert_eq!((full.status, full.json()["status"].as_u64()), (503, Some(503)));
        assert!(full.head.contains("content-type: application/problem+json"), "{}", full.head);
        assert_eq!(ask(address, "GET /broker/v1/health", None, "").json()["sessions"], 1);
        let counts = ask(address, "GET /metrics", None, "").body;
        for line in
            ["weir_broker_sessions{relay=\"paris\"} 1", "weir_broker_capacity{relay=\"paris\"} 1"]
        {
            assert!(counts.contains(line), "{counts}");
        }
        assert!(counts.contains("weir_broker_refused_total{reason=\"full\"}"), "{counts}");
        assert!(!counts.contains("alice"), "metrics contain no user names");
        let back = format!("DELETE /broker/v1/sessions/{}", session["id"].as_str().unwrap());
        assert_eq!([204, 404].map(|_| ask(address, &back, None, "").status), [204, 404]);
    }
}

#[test]
fn every_request_requires_the_token() {
    let (_server, addresses) = serve(Some(TOKEN));
    let requests = [
        "POST /broker/v1/sessions",
        "DELETE /broker/v1/sessions/0",
        "GET /broker/v1/health",
        "GET /metrics",
        "GET /openapi.json",
    ];
    for address in addresses {
        for request in requests {
            for token in [None, Some(""), Some("0123456789abcdee"), Some("0123456789abcdef0")] {
                let answer = ask(address, request, token, ASKED);
                assert_eq!(answer.status, 401, "{request}");
                assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
                assert!(!answer.body.contains("paris"), "{}", answer.body);
            }
        }
        assert_eq!(ask(address, "GET /broker/v1/health", Some(TOKEN), "").status, 200);
    }
    // The separate listener serves only the broker. Even status 404 requires the token.
    let [_, standalone] = addresses;
    for path in ["/", "/call", "/call.js", "/ws/a"] {
        assert_eq!(ask(standalone, &format!("GET {path}"), None, "").status, 401, "{path}");
        assert_eq!(ask(standalone, &format!("GET {path}"), Some(TOKEN), "").status, 404, "{path}");
    }
}

#[test]
fn without_a_token_a_foreign_page_gets_no_credentials() {
    let (_server, addresses) = serve(None);
    for address in addresses {
        let answer = ask_as(address, "example.org", "POST /broker/v1/sessions", None, ASKED);
        assert_eq!(answer.status, 421, "{}", answer.body);
    }
}

#[test]
fn without_a_token_only_the_servers_own_pages_change_something() {
    let (_server, addresses) = serve(None);
    for address in addresses {
        let ask = |request: &str, origin: &str| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let origin = format!("Origin: {origin}\r\n");
            exchange(stream, &address.to_string(), request, &origin, ASKED)
        };
        let own = format!("http://{address}");
        for origin in ["http://example.org", "null", "http://localhost:1", &format!("{own}.org")] {
            let refused = ask("POST /broker/v1/sessions", origin);
            assert_eq!(refused.status, 403, "{origin}: {}", refused.body);
            assert_eq!(ask("DELETE /broker/v1/sessions/0", origin).status, 403, "{origin}");
            assert_eq!(ask("GET /broker/v1/health", origin).status, 200, "{origin}");
        }
        let given = ask("POST /broker/v1/sessions", &own);
        assert_eq!(given.status, 201, "{}", given.body);
        let back = format!("DELETE /broker/v1/sessions/{}", given.json()["id"].as_str().unwrap());
        assert_eq!(ask(&back, &own).status, 204);
    }
}

#[test]
fn answers_to_bad_requests_name_the_error() {
    let (_server, [address, _]) = serve(None);
    let long = format!("{{\"service\":\"{}\"}}", "x".repeat(MAX_BODY));
    for (body, status, part) in [
        ("", 400, "EOF"),
        ("{", 400, "EOF"),
        (r#"{"service":"meet"}"#, 422, "missing field `user`"),
        (r#"{"service":"meet","user":"alice","relay":"rome"}"#, 422, "unknown field `relay`"),
        (r#"{"service":"meet","user":"1:alice"}"#, 422, "1 to 64 letters"),
        (r#"{"service":"chat","user":"alice"}"#, 403, "has not subscribed"),
        (r#"{"service":"meet","user":"alice"}"#, 503, "no relay of this class"),
        (long.as_str(), 413, "length limit exceeded"),
    ] {
        let answer = ask(address, "POST /broker/v1/sessions", None, body);
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert!(answer.json()["detail"].as_str().unwrap().contains(part), "{}", answer.body);
    }
}

#[test]
fn requests_beyond_the_rate_limit_are_refused() {
    let (_server, [address, _]) = serve(None);
    let statuses: Vec<u16> = (0..REQUEST_BURST * 4)
        .map(|_| ask(address, "GET /broker/v1/health", None, "").status)
        .collect();
    assert!(statuses[..REQUEST_BURST as usize].iter().all(|status| *status == 200));
    // On a slow machine the limit refills meanwhile. Three more bursts take nine seconds to refill.
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert!(refused > 0, "none of {} was refused", statuses.len());
}

#[test]
fn a_client_that_sends_too_many_requests_loses_its_connection() {
    let (_server, [address, _]) = serve(None);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!("GET /broker/v1/health HTTP/1.1\r\nHost: {address}\r\n\r\n");
    // The limit may refill meanwhile, and the server may close the connection before everything is
    // sent.
    let _ = stream.write_all(request.repeat(100 * REQUEST_BURST as usize).as_bytes());
    let mut answers = Vec::new();
    // The end may be a reset, because requests are unread.
    let _ = stream.read_to_end(&mut answers);
    let answers = String::from_utf8(answers).unwrap();
    let refused = answers.matches("HTTP/1.1 429").count();
    assert!(refused <= 1, "{refused} refusals on one connection");
    assert!(!answers.is_empty());
}

#[test]
fn the_openapi_document_has_every_address() {
    let (_server, [address, _]) = serve(None);
    let document = ask(address, "GET /openapi.json", None, "").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{document}");
    let paths = document["paths"].as_object().unwrap();
    let mut methods: Vec<String> = paths
        .iter()
        .flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
        })
        .collect();
    methods.sort_unstable();
    assert_eq!(
        methods,
        [
            "delete /broker/v1/sessions/{id}",
            "get /broker/v1/health",
            "get /metrics",
            "get /openapi.json",
            "post /broker/v1/sessions",
        ]
    );
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for schema in ["SessionRequest", "SessionAnswer", "IceServer", "Problem", "Health"] {
        assert!(schemas.contains_key(schema), "{schema}");
    }
    assert_eq!(document["components"]["securitySchemes"]["token"]["scheme"], "bearer");
}

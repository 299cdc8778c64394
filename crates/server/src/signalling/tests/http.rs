use super::{Options, Served, client, serve, serve_with};
use std::io::{Read, Write};
use tokio_tungstenite::tungstenite::Error;

/// Sends these lines unchanged; gives the head and the body of the answer.
fn ask(served: &Served, lines: &[&str]) -> (String, Vec<u8>) {
    let mut stream = served.connect();
    stream
        .write_all(format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n")).as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (
        String::from_utf8(answer[..end].to_vec()).unwrap().to_ascii_lowercase(),
        answer[end + 4..].to_vec(),
    )
}

fn get(served: &Served, path: &str) -> (String, Vec<u8>) {
    ask(served, &[&format!("GET {path} HTTP/1.1"), "Host: localhost"])
}

#[test]
fn every_page_has_the_security_headers() {
    let served = serve();
    for path in ["/rooms", "/call?room=a", "/call.js", "/style.css", "/icon.svg"] {
        let (head, body) = get(&served, path);
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        assert!(!body.is_empty(), "{path}");
        has_security_headers(&head);
        assert!(head.contains("default-src 'none'; script-src 'self';"), "{path}: {head}");
    }
}

fn has_security_headers(head: &str) {
    let wanted = [
        "content-security-policy: default-src 'none';",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
    ];
    for header in wanted {
        assert!(head.contains(header), "no '{header}': {head}");
    }
}

#[test]
fn a_request_with_a_foreign_host_name_is_refused() {
    let served = serve();
    for host in ["example.org", "127.0.0.1.example.org", "10.0.0.1", ""] {
        let (head, body) = ask(&served, &["GET / HTTP/1.1", &format!("Host: {host}")]);
        assert!(
            head.starts_with("http/1.1 421") || head.starts_with("http/1.1 400"),
            "{host}: {head}"
        );
        assert!(!String::from_utf8(body).unwrap().contains("<html"));
        has_security_headers(&head);
    }
    let mut request = served.request("a");
    request.headers_mut().insert("host", "example.org".parse().unwrap());
    request.headers_mut().insert("origin", "http://example.org".parse().unwrap());
    assert_eq!(status(&served, request), 421);
}

#[test]
fn an_answer_to_a_foreign_page_has_the_security_headers() {
    let lines = ["POST / HTTP/1.1", "Host: localhost", "Origin: http://example.org"];
    let (head, _) = ask(&serve(), &lines);
    assert!(head.starts_with("http/1.1 403"), "{head}");
    has_security_headers(&head);
}

#[test]
fn a_foreign_page_cannot_open_a_web_socket() {
    let served = serve();
    for origin in ["http://example.org", "null", "http://localhost:1"] {
        let mut request = served.request("a");
        request.headers_mut().insert("origin", origin.parse().unwrap());
        assert_eq!(status(&served, request), 403, "{origin}");
    }
    let mut request = served.request("a");
    request.headers_mut().remove("origin");
    assert_eq!(status(&served, request), 403);
}

fn status(served: &Served, request: tokio_tungstenite::tungstenite::http::Request<()>) -> u16 {
    match client(request, served.connect()) {
        Err(tokio_tungstenite::tungstenite::HandshakeError::Failure(Error::Http(response))) => {
            response.status().as_u16()
        }
        Ok(_) => 101,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn no_path_reaches_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("film.webm");
    std::fs::write(&film, "0123456789").unwrap();
    std::fs::write(folder.path().join("secret"), "a secret").unwrap();
    let served = serve_with(Options { film: Some(film), ..Options::default() });
    let paths = [
        "/media/secret",
        "/media/../secret",
        "/media/film.webm/../secret",
        "/media/%2e%2e/secret",
        "/media/..%2fsecret",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/ws/../media/secret",
        "//etc/passwd",
        "/media/film.webm%00secret",
    ];
    for path in paths {
        let (head, body) = get(&served, path);
        assert!(head.starts_with("http/1.1 4"), "{path}: {head}");
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(!body.contains("a secret") && !body.contains("root:"), "{path}: {body}");
    }
}

#[test]
fn the_film_is_served_in_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("any name");
    std::fs::write(&film, "0123456789").unwrap();
    let served = serve_with(Options { film: Some(film), ..Options::default() });
    let whole = get(&served, "/media/film.webm");
    assert!(
        whole.0.contains("content-type: video/webm") && whole.0.contains("accept-ranges: bytes"),
        "{}",
        whole.0
    );
    assert_eq!(whole.1, b"0123456789");
    let (head, part) =
        ask(&served, &["GET /media/film.webm HTTP/1.1", "Host: localhost", "Range: bytes=2-5"]);
    assert!(
        head.starts_with("http/1.1 206") && head.contains("content-range: bytes 2-5/10"),
        "{head}"
    );
    assert_eq!(part, b"2345");
    assert!(get(&serve(), "/media/film.webm").0.starts_with("http/1.1 404"));
}

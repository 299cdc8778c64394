//! Tests of the server over real connections.

mod deadlines;
mod http;
mod limits;
mod relay;

use super::{Options, Server};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_tungstenite::tungstenite::client::{IntoClientRequest, client};
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket};

/// A time limit that no test reaches unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

struct Served {
    server: Server,
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

fn serve() -> Served {
    serve_with(Options::default())
}

fn serve_with(options: Options) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let push = move |line: &str| lines.lock().unwrap().push(line.to_owned());
    let options = Options { log: Some(Arc::new(push)), ..options };
    Served { server: Server::start(vec![listener], options).unwrap(), address, log }
}

impl Served {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The request by which a page of this server opens its WebSocket.
    fn request(&self, room: &str) -> Request<()> {
        let mut request = format!("ws://{}/ws/{room}", self.address).into_client_request().unwrap();
        let origin = format!("http://{}", self.address).parse().unwrap();
        request.headers_mut().insert("origin", origin);
        request
    }

    /// A page that has sent nothing yet.
    fn page(&self, room: &str) -> Page {
        let (socket, _) = client(self.request(room), self.connect()).unwrap();
        Page(socket)
    }

    /// A page that has sent `hello`, to open a room.
    fn enter(&self, room: &str) -> Page {
        let mut page = self.page(room);
        page.say(&json!({"type": "hello"}));
        page
    }

    /// A page that has sent `hello` with the key of the room, which the first page has received.
    fn follow(&self, room: &str, welcome: &Value) -> Page {
        let mut page = self.page(room);
        page.say(&json!({"type": "hello", "key": welcome["key"]}));
        page
    }
}

struct Page(WebSocket<TcpStream>);

impl Page {
    fn say(&mut self, message: &Value) {
        self.send(message.to_string()).unwrap();
    }

    fn send(&mut self, text: String) -> Result<(), Error> {
        self.0.send(Message::text(text))
    }

    /// The next message; null after the server has closed the connection.
    fn hear(&mut self) -> Value {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => {
                    return Value::Null;
                }
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                    return Value::Null;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The server's answer to `hello`.
    fn welcome(&mut self) -> Value {
        let welcome = self.hear();
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        welcome
    }

    /// Checks that the server refuses the page; gives the reason.
    fn refused(&mut self) -> String {
        let error = self.hear();
        assert_eq!(error["type"], "error", "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        assert_eq!(self.hear(), Value::Null);
        error["reason"].as_str().unwrap().to_owned()
    }
}

//! A WebSocket to Janus with a session and a handle of its videoroom (Janus' documentation,
//! "WebSockets interface" and "VideoRoom plugin").

use super::error::JanusError;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::SEC_WEBSOCKET_PROTOCOL;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// How long an answer may take; on an idle machine it is a millisecond.
const PATIENCE: Duration = Duration::from_secs(10);
/// The plugin.
const PLUGIN: &str = "janus.plugin.videoroom";

/// A handle of the plugin, with a session and a connection of its own. There is no `Debug`: it
/// holds the secret.
pub(super) struct Connection {
    socket: WebSocketStream<TcpStream>,
    secret: String,
    session: Option<u64>,
    handle: Option<u64>,
    transactions: u64,
}

impl Connection {
    /// A connection without a session.
    async fn connect(socket: std::net::TcpStream, secret: &str) -> Result<Self, JanusError> {
        let opened = async {
            let socket = TcpStream::from_std(socket).map_err(Error::Io)?;
            let mut request = "ws://127.0.0.1/".into_client_request()?;
            let protocol = HeaderValue::from_static("janus-protocol");
            request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, protocol);
            client_async(request, socket).await.map(|(socket, _)| socket)
        };
        let socket = timeout(PATIENCE, opened).await.map_err(|_| silent())?;
        let socket = socket.map_err(|error| JanusError::Handshake(Box::new(error)))?;
        Ok(Self { socket, secret: secret.to_owned(), session: None, handle: None, transactions: 0 })
    }

    /// Opens one over a TCP connection.
    pub(super) async fn open(
        socket: std::net::TcpStream,
        secret: &str,
    ) -> Result<Self, JanusError> {
        let mut connection = Self::connect(socket, secret).await?;
        connection.session = Some(connection.make(json!({ "janus": "create" })).await?);
        connection.handle =
            Some(connection.make(json!({ "janus": "attach", "plugin": PLUGIN })).await?);
        Ok(connection)
    }

    /// Asks the Janus at the other end of a TCP connection which version it is.
    pub(super) async fn version(
        socket: std::net::TcpStream,
        secret: &str,
    ) -> Result<String, JanusError> {
        let info = Self::connect(socket, secret).await?.ask(json!({ "janus": "info" })).await?;
        Ok(format!("Janus {}", info["version_string"].as_str().unwrap_or("of no version")))
    }

    async fn make(&mut self, wanted: Value) -> Result<u64, JanusError> {
        let answer = self.ask(wanted).await?;
        answer["data"]["id"].as_u64().ok_or(JanusError::NoId)
    }

    /// Asks the plugin for something that it does at once.
    pub(super) async fn request(&mut self, body: &Value) -> Result<(), JanusError> {
        let answer = self.ask(json!({ "janus": "message", "body": body })).await?;
        refused(&answer["plugindata"]["data"]).map_or(Ok(()), Err)
    }

    /// Asks and waits for the answer.
    async fn ask(&mut self, wanted: Value) -> Result<Value, JanusError> {
        let transaction = self.tell(wanted).await?;
        let answered = async {
            loop {
                let message = self.next().await?;
                if message["transaction"].as_str() == Some(&transaction)
                    && message["janus"] != "ack"
                {
                    return refused(&message["error"]).map_or(Ok(message), Err);
                }
            }
        };
        timeout(PATIENCE, answered).await.map_err(|_| silent())?
    }

    /// Sends a message to the session, and to the handle once there is one; returns its
    /// transaction.
    pub(super) async fn tell(&mut self, mut message: Value) -> Result<String, JanusError> {
        self.transactions += 1;
        let transaction = self.transactions.to_string();
        message["transaction"] = json!(transaction);
        message["apisecret"] = json!(self.secret);
        if let Some(session) = self.session {
            message["session_id"] = json!(session);
        }
        // A keep-alive is the session's (RFC 6455 pings are not enough for it).
        if let Some(handle) = self.handle.filter(|_| message["janus"] != "keepalive") {
            message["handle_id"] = json!(handle);
        }
        let sent = timeout(PATIENCE, self.socket.send(Message::text(message.to_string()))).await;
        sent.map_err(|_| silent())?
            .map(|()| transaction)
            .map_err(|error| JanusError::Lost(Box::new(error)))
    }

    /// The next message.
    pub(super) async fn next(&mut self) -> Result<Value, JanusError> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    return serde_json::from_str(&text).map_err(JanusError::NotJson);
                }
                Some(Ok(Message::Close(_))) | None => {
                    return Err(JanusError::Closed);
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(JanusError::Lost(Box::new(error))),
            }
        }
    }

    /// Ends the session. Janus ends it anyway when nobody keeps it alive.
    pub(super) async fn close(mut self) {
        if self.tell(json!({ "janus": "destroy" })).await.is_ok() {
            // It may have gone already.
            let _ = timeout(PATIENCE, self.socket.close(None)).await;
        }
    }
}

fn silent() -> JanusError {
    JanusError::Timeout(PATIENCE)
}

/// Why Janus, or its plugin, refuses; `None` where it does not.
pub(super) fn refused(answer: &Value) -> Option<JanusError> {
    let reason = answer["reason"].as_str().or(answer["error"].as_str())?;
    Some(JanusError::Refused(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_janus_and_one_of_its_plugin_are_told() {
        let core = json!({ "code": 403, "reason": "Unauthorized request" });
        assert_eq!(refused(&core).unwrap().to_string(), "Janus refuses: Unauthorized request");
        let plugin =
            json!({ "videoroom": "event", "error_code": 426, "error": "No such room (7)" });
        assert_eq!(refused(&plugin).unwrap().to_string(), "Janus refuses: No such room (7)");
        assert!(refused(&json!({ "videoroom": "created", "room": 7 })).is_none());
        assert!(refused(&Value::Null).is_none());
    }
}

//! A WebSocket to Janus with one session and one handle of its videoroom plugin (Janus
//! documentation, "WebSockets interface" and "VideoRoom plugin").

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

/// The time for an answer; on an idle machine it takes a millisecond.
const PATIENCE: Duration = Duration::from_secs(10);
/// The plugin.
const PLUGIN: &str = "janus.plugin.videoroom";

/// A handle of the plugin, with its own session and connection. `Debug` is not implemented, because
/// the value holds the secret.
pub(super) struct Connection {
    socket: WebSocketStream<TcpStream>,
    secret: String,
    session: Option<u64>,
    handle: Option<u64>,
    transactions: u64,
}

impl Connection {
    /// Opens a connection without a session.
    async fn connect(socket: std::net::TcpStream, secret: &str) -> Result<Self, JanusError> {
        let opened = async {
            let socket = TcpStream::from_std(socket).map_err(Error::Io)?;
            let mut request = "ws://127.0.0.1/".into_client_request()?;
            let protocol = HeaderValue::from_static("janus-protocol");
            request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, protocol);
            client_async(request, socket).await.map(|(socket, _)| socket)
        };
        let socket = timeout(PATIENCE, opened).await.map_err(|_| timed_out())?;
        let socket = socket.map_err(|error| JanusError::Handshake(Box::new(error)))?;
        Ok(Self { socket, secret: secret.to_owned(), session: None, handle: None, transactions: 0 })
    }

    /// Opens a connection with a session and a handle over a TCP connection.
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

    /// Asks Janus for its version, over a TCP connection.
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

    /// Sends a synchronous request to the plugin.
    pub(super) async fn request(&mut self, body: &Value) -> Result<(), JanusError> {
        let answer = self.ask(json!({ "janus": "message", "body": body })).await?;
        refused(&answer["plugindata"]["data"]).map_or(Ok(()), Err)
    }

    /// Sends a request and waits for the answer.
    async fn ask(&mut self, wanted: Value) -> Result<Value, JanusError> {
        let transaction = self.send(wanted).await?;
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
        timeout(PATIENCE, answered).await.map_err(|_| timed_out())?
    }

    /// Sends a message to the session, and to the handle once it exists; returns the transaction.
    pub(super) async fn send(&mut self, mut message: Value) -> Result<String, JanusError> {
        self.transactions += 1;
        let transaction = self.transactions.to_string();
        message["transaction"] = json!(transaction);
        message["apisecret"] = json!(self.secret);
        if let Some(session) = self.session {
            message["session_id"] = json!(session);
        }
        // A keep-alive belongs to the session; WebSocket pings (RFC 6455) do not replace it.
        if let Some(handle) = self.handle.filter(|_| message["janus"] != "keepalive") {
            message["handle_id"] = json!(handle);
        }
        let sent = timeout(PATIENCE, self.socket.send(Message::text(message.to_string()))).await;
        sent.map_err(|_| timed_out())?
            .map(|()| transaction)
            .map_err(|error| JanusError::Lost(Box::new(error)))
    }

    /// Waits for the next message.
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

    /// Ends the session. Without it, Janus would end the session after its timeout.
    pub(super) async fn close(mut self) {
        if self.send(json!({ "janus": "destroy" })).await.is_ok() {
            // The connection may be closed already.
            let _ = timeout(PATIENCE, self.socket.close(None)).await;
        }
    }
}

fn timed_out() -> JanusError {
    JanusError::Timeout(PATIENCE)
}

/// The error in an answer of Janus or its plugin; `None` if there is none.
pub(super) fn refused(answer: &Value) -> Option<JanusError> {
    let reason = answer["reason"].as_str().or(answer["error"].as_str())?;
    Some(JanusError::Refused(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_janus_and_of_its_plugin_are_recognised() {
        let core = json!({ "code": 403, "reason": "Unauthorized request" });
        assert_eq!(refused(&core).unwrap().to_string(), "Janus refuses: Unauthorized request");
        let plugin =
            json!({ "videoroom": "event", "error_code": 426, "error": "No such room (7)" });
        assert_eq!(refused(&plugin).unwrap().to_string(), "Janus refuses: No such room (7)");
        assert!(refused(&json!({ "videoroom": "created", "room": 7 })).is_none());
        assert!(refused(&Value::Null).is_none());
    }
}

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir serve                            then open http://localhost:8080 in two tabs
  weir serve --port 0                   on any free port, which is printed
  weir serve --film my-film.webm        pages can send this film instead of a camera
  weir serve --broker broker.toml       and the broker of media relays, at /broker/v1 (docs/guides/relays.md)
  weir serve --broker broker.toml --bind 192.0.2.1:8081 --token-file token
                                        the broker alone, for others too

It listens on this machine only (127.0.0.1 and ::1), until Ctrl-C; --bind adds an address for the broker only.
Exit code: 0 after Ctrl-C; 2 for bad input or a port in use.")]
pub(crate) struct Serve {
    /// The port; 0 selects any free port
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// A film in WebM that pages can send instead of camera and microphone
    #[arg(long, value_name = "FILE")]
    pub(crate) film: Option<PathBuf>,
    /// The relays and services of the broker
    #[arg(long, value_name = "FILE")]
    pub(crate) broker: Option<PathBuf>,
    /// A further address for the broker only; an address that is not loopback needs a token
    #[arg(long, value_name = "ADDRESS:PORT", requires = "broker")]
    pub(crate) bind: Option<SocketAddr>,
    /// A file with the token that every request to the broker must carry; the variable
    /// WEIR_BROKER_TOKEN may hold it instead
    #[arg(long, value_name = "FILE", requires = "broker")]
    pub(crate) token_file: Option<PathBuf>,
    /// Do not print who joins and leaves
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

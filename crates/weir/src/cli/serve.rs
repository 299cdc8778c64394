use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir serve                            then open http://localhost:8080 in two tabs
  weir serve --port 0                   on any free port, which it says
  weir serve --film my-film.webm        pages can send this film instead of a camera
  weir serve --broker broker.toml       and the broker of media relays, at /broker/v1 (docs/guides/relays.md)
  weir serve --broker broker.toml --bind 192.0.2.1:8081 --token-file token
                                        the broker alone, for others too

It listens on this machine only (127.0.0.1 and ::1), until Ctrl-C; --bind adds an address where the broker alone answers.
Exit code: 0 when it is stopped; 2 for bad input, also when the port is in use.")]
pub(crate) struct Serve {
    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// A film in WebM that pages can send instead of camera and microphone
    #[arg(long, value_name = "FILE")]
    pub(crate) film: Option<PathBuf>,
    /// The relays and services of the broker
    #[arg(long, value_name = "FILE")]
    pub(crate) broker: Option<PathBuf>,
    /// A further address, where the broker alone answers; one that is not of this machine's
    /// loopback needs a token
    #[arg(long, value_name = "ADDRESS:PORT", requires = "broker")]
    pub(crate) bind: Option<SocketAddr>,
    /// The token that every request to the broker must carry; the variable WEIR_BROKER_TOKEN says
    /// it too
    #[arg(long, value_name = "FILE", requires = "broker")]
    pub(crate) token_file: Option<PathBuf>,
    /// Do not say who comes and goes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

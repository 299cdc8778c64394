use clap::Args;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir serve --store runs.sqlite        then open http://localhost:8080: runs, claims, advice, calls
  weir serve --experiments my-folder    also list the experiments of this folder
  weir serve --listen 192.0.2.1:8082 --token-file token
                                        the dashboard for other machines too
  weir serve --port 0                   on any free port, which is printed
  weir serve --film my-film.webm        pages can send this film instead of a camera
  weir serve --broker broker.toml       and the broker of media relays, at /broker/v1 (docs/guides/relays.md)
  weir serve --broker broker.toml --bind 192.0.2.1:8081 --token-file token
                                        the broker alone, for others too

It listens on this machine only (127.0.0.1 and ::1), until Ctrl-C. --listen adds an address for the dashboard only,
--bind one for the broker only.
Exit code: 0 after Ctrl-C; 2 for bad input or a port in use.")]
pub(crate) struct Serve {
    /// The store of the runs, a SQLite file; without it, runs are kept until the command ends
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// A folder of experiments. They may name files in this folder, and none outside
    #[arg(long, value_name = "FOLDER")]
    pub(crate) experiments: Option<PathBuf>,
    /// Runs that are simulated at a time [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Let the pages start runs in real time (weir emulate, weir measure), which need root
    #[arg(long)]
    pub(crate) allow_real: bool,
    /// A further address for the dashboard, which needs --token-file
    #[arg(long, value_name = "ADDRESS:PORT", requires = "token_file")]
    pub(crate) listen: Option<SocketAddr>,
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
    /// A file with the token for --listen, which browsers ask for as the password, and which every
    /// request to the broker must carry; for the broker, the variable WEIR_BROKER_TOKEN may hold it
    /// instead
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Do not print who joins and leaves
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

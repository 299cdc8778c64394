use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir serve                            then open http://localhost:8080 in two tabs
  weir serve --port 0                   on any free port, which it says
  weir serve --film my-film.webm        pages can send this film instead of a camera

It listens on this machine only (127.0.0.1 and ::1), until Ctrl-C.
Exit code: 0 when it is stopped; 2 for bad input, also when the port is in use.")]
pub(crate) struct Serve {
    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// A film in WebM that pages can send instead of camera and microphone
    #[arg(long, value_name = "FILE")]
    pub(crate) film: Option<PathBuf>,
    /// Do not say who comes and goes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

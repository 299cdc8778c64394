use clap::{Args, Subcommand};
use std::net::SocketAddr;
use testbed::upload::{Dscp, PORT};
use units::{Bytes, Duration};

/// The real thing that a simulated TCP flow stands for.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir upload server
  weir upload client 192.0.2.7 --bytes 5MB --congestion-control cubic
  weir upload client bob.example --duration 30s --json

Exit code: 0, also when it is stopped by a signal or its time is over; 1 if there is no connection or it breaks; 2 for bad input.")]
pub(crate) struct Upload {
    #[command(subcommand)]
    pub(crate) side: UploadSide,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UploadSide {
    /// Receive uploads, many at a time, until stopped
    Server(UploadServer),
    /// Upload to a server, and say how long it took
    Client(UploadClient),
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  weir upload server\n  weir upload server --listen 192.0.2.7:80 --json"
)]
pub(crate) struct UploadServer {
    /// The address to listen at; [::] is IPv4 too
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:5601")]
    pub(crate) listen: SocketAddr,
    /// Time between the samples of --json
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// One JSON object a line: every client's progress, and its end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir upload client 192.0.2.7 --bytes 5MB
  weir upload client bob.example --duration 30s --congestion-control bbr --json
  weir upload client 192.0.2.7 --on 5s --off 10s --dscp cs1")]
pub(crate) struct UploadClient {
    /// The server's address or name
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// The server's port
    #[arg(long, value_name = "N", default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// How much; without end if left out
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["on", "off"])]
    pub(crate) bytes: Option<Bytes>,
    /// Cut it off after this time
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) duration: Option<Duration>,
    /// Send for this time, and then rest for that of --off, and so on
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "off")]
    pub(crate) on: Option<Duration>,
    /// See --on
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "on")]
    pub(crate) off: Option<Duration>,
    /// The kernel's congestion control by name: cubic, reno, bbr, … [default: the host's own]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion_control: Option<String>,
    /// The mark on its packets: 0 to 63, or a name such as ef, af41, cs1
    #[arg(long, value_name = "MARK", default_value = "be", value_parser = testbed::upload::dscp)]
    pub(crate) dscp: Dscp,
    /// Time between the samples of --json
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// One JSON object a line: what the kernel tells of the connection, and its end
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn bytes(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if bytes > Bytes::ZERO { Ok(bytes) } else { Err("write a size above zero".to_owned()) }
}

fn positive(text: &str) -> Result<Duration, String> {
    let time: Duration = text.parse().map_err(|error| format!("{error}"))?;
    if time > Duration::ZERO { Ok(time) } else { Err("write a time above zero".to_owned()) }
}

fn interval(text: &str) -> Result<Duration, String> {
    let least = Duration::from_millis(1);
    let time = positive(text)?;
    if time >= least { Ok(time) } else { Err(format!("write a time from {least} up")) }
}

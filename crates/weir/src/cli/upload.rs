use clap::{Args, Subcommand};
use std::net::SocketAddr;
use testbed::upload::{Dscp, IDLE_TIMEOUT, MAX_CLIENTS, MAX_CLIENTS_PER_ADDRESS, PORT};
use units::{Bytes, Duration};

/// A real upload, the counterpart of a simulated TCP flow.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir upload server --listen [::]:5601
  weir upload client 192.0.2.7 --bytes 5MB --congestion-control cubic
  weir upload client bob.example --duration 30s --json

Exit code: 0, also after a signal or the end of --duration; 1 if the connection fails; 2 for bad input.")]
pub(crate) struct Upload {
    #[command(subcommand)]
    pub(crate) side: UploadSide,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UploadSide {
    /// Receive uploads from many clients until stopped
    Server(UploadServer),
    /// Upload to a server, and print the time that it took
    Client(UploadClient),
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  weir upload server                          for clients on this machine\n  weir upload server --listen [::]:5601       for every client that reaches this machine\n  weir upload server --listen 192.0.2.7:80 --json"
)]
pub(crate) struct UploadServer {
    /// The address to listen on; [::] stands for all addresses and includes IPv4
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5601")]
    pub(crate) listen: SocketAddr,
    /// The number of clients at a time
    #[arg(long, value_name = "N", default_value_t = MAX_CLIENTS, value_parser = count)]
    pub(crate) max_clients: usize,
    /// The number of clients at a time from one IPv4 address or IPv6 network (/64)
    #[arg(long, value_name = "N", default_value_t = MAX_CLIENTS_PER_ADDRESS, value_parser = count)]
    pub(crate) max_clients_per_address: usize,
    /// End an upload that sends nothing for this time; above the --off of clients
    #[arg(long, value_name = "TIME", default_value_t = IDLE_TIMEOUT, value_parser = positive)]
    pub(crate) idle_timeout: Duration,
    /// The time between two samples of --json
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// One JSON object per line: progress and end of every client
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
    /// The amount of data [default: unlimited]
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["on", "off"])]
    pub(crate) bytes: Option<Bytes>,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) duration: Option<Duration>,
    /// Send for this time, pause for the time of --off, and repeat
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "off")]
    pub(crate) on: Option<Duration>,
    /// The pause after --on
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "on")]
    pub(crate) off: Option<Duration>,
    /// The kernel's congestion control by name: cubic, reno, bbr, … [default: the host's own]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion_control: Option<String>,
    /// The DSCP of the packets: 0 to 63, or a name such as ef, af41, cs1
    #[arg(long, value_name = "MARK", default_value = "be", value_parser = testbed::upload::dscp)]
    pub(crate) dscp: Dscp,
    /// The time between two samples of --json
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// One JSON object per line: the TCP state of the kernel, and the end
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn bytes(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if bytes > Bytes::ZERO { Ok(bytes) } else { Err("write a size above zero".to_owned()) }
}

fn count(text: &str) -> Result<usize, String> {
    let count: usize = text.parse().map_err(|error| format!("{error}"))?;
    if (1..=MAX_FILES).contains(&count) {
        Ok(count)
    } else {
        Err(format!("write 1 to {MAX_FILES}"))
    }
}

/// The most clients that an option may allow: a process usually has 1024 file descriptors.
const MAX_FILES: usize = 1_000;

fn positive(text: &str) -> Result<Duration, String> {
    let time: Duration = text.parse().map_err(|error| format!("{error}"))?;
    if time > Duration::ZERO { Ok(time) } else { Err("write a time above zero".to_owned()) }
}

fn interval(text: &str) -> Result<Duration, String> {
    let least = Duration::from_millis(1);
    let time = positive(text)?;
    if time >= least { Ok(time) } else { Err(format!("write a time from {least} up")) }
}

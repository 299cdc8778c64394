//! Which kind of device should stand between the hosts and the thread that models the network?
//!
//! Forwards between two network namespaces, without a model, by each kind of device in turn, and
//! prints for each what TCP and UDP get through it, how long a round trip takes and what the
//! forwarder costs. As root, with `ip`, `iperf3` and `ethtool` installed:
//!
//! ```text
//! cargo run --release -p weir-emulator --example devices [-- [--json] [--fifo] [--runs N] [KIND...]]
//! ```
//!
//! Each kind is measured `N` times, twice if not told, in rounds, so that what else the machine
//! does falls on all of them; a cell of the table has the numbers of all its runs. With `--fifo`
//! the forwarder is a real-time thread. "cpu s/M" is the processor time of the forwarder for a
//! million packets, and so also microseconds for one; it includes most of what the receiving host
//! does with a packet, because the kernel does that within the write. "overtaken" is how often TCP
//! saw packets out of order, and "spurious" how many of its retransmits were of segments that had
//! not been lost: virtual Ethernet hands packets over by a queue for each processor, and a thread
//! that moves to another processor overtakes itself. In the driver's mode of AF_XDP the queue
//! between the ends is of 256 packets, and loses what is more.
//!
//! The kinds:
//!
//! - `tun`: a TUN device, a system call for each packet read and each written.
//! - `tun-napi`: what is written goes through NAPI (`IFF_NAPI`).
//! - `tun-csum`: packets pass with their checksums not yet computed (`TUN_F_CSUM`).
//! - `tun-vnet`: and TCP hands out up to 64 kB at once, which the forwarder divides (`TUN_F_TSO4`,
//!   `TUN_F_TSO6`).
//! - `tun-uring`: `tun`, with a system call for many reads or many writes.
//! - `af-packet`: virtual Ethernet and raw sockets, `recvmmsg` and `sendmmsg`.
//! - `af-xdp`, `af-xdp-skb`: virtual Ethernet and AF_XDP sockets in copy mode, with the program in
//!   the device's driver and after it.
//!
//! The namespaces are named `weirdev-…`, and are removed at the end, after an error or a panic too.
//! A run that was killed leaves them to the next to remove.

#![expect(unsafe_code, reason = "ioctl, recvmmsg and raw sockets; each use says why it is sound")]

mod bpf;
mod hosts;
mod measure;
mod mmsg;
mod packet;
mod relay;
mod split;
mod tun;
mod uring;
mod xdp;

use std::io;

use serde_json::json;

use hosts::Hosts;
use measure::Measured;
use relay::{Forwarder, Relay};
use tun::{Ability, Tun};

/// The kinds of device, by the names that the command takes.
const KINDS: [&str; 8] =
    ["tun", "tun-napi", "tun-csum", "tun-vnet", "tun-uring", "af-packet", "af-xdp", "af-xdp-skb"];

/// The two ends of a kind of device; the hosts exist.
fn open(kind: &str) -> io::Result<Box<dyn Relay>> {
    Ok(match kind {
        "tun" => Box::new(Tun::new(Ability::Plain)?),
        "tun-napi" => Box::new(Tun::new(Ability::Napi)?),
        "tun-csum" => Box::new(Tun::new(Ability::Checksum)?),
        "tun-vnet" => Box::new(Tun::new(Ability::Segmentation)?),
        "tun-uring" => Box::new(uring::TunUring::new()?),
        "af-packet" => Box::new(packet::Packet::new()?),
        "af-xdp" => Box::new(xdp::Xdp::new(xdp::DRIVER)?),
        "af-xdp-skb" => Box::new(xdp::Xdp::new(xdp::GENERIC)?),
        _ => {
            return Err(io::Error::other(format!(
                "no kind {kind}; there are {}",
                KINDS.join(", ")
            )));
        }
    })
}

/// What the command was asked for.
struct Options {
    json: bool,
    fifo: bool,
    runs: usize,
    kinds: Vec<String>,
}

/// Reads the command's arguments.
fn options() -> io::Result<Options> {
    let mut options = Options { json: false, fifo: false, runs: 2, kinds: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--fifo" => options.fifo = true,
            "--runs" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                options.runs = number.ok_or_else(|| io::Error::other("--runs takes a number"))?;
            }
            kind => options.kinds.push(kind.to_owned()),
        }
    }
    if options.kinds.is_empty() {
        options.kinds = KINDS.map(str::to_owned).to_vec();
    }
    Ok(options)
}

/// Measures one kind in namespaces of its own.
fn measure(kind: &str, fifo: bool) -> io::Result<Measured> {
    let _hosts = Hosts::new()?;
    let mut relay = open(kind)?;
    Measured::new(&mut Forwarder { relay: &mut *relay, fifo })
}

fn main() -> io::Result<()> {
    let options = options()?;
    let mut results = vec![Vec::new(); options.kinds.len()];
    for run in 0..options.runs {
        for (kind, results) in options.kinds.iter().zip(&mut results) {
            eprintln!("run {} of {}: {kind}", run + 1, options.runs);
            match measure(kind, options.fifo) {
                Ok(measured) => results.push(measured),
                Err(error) => eprintln!("{kind}: {error}"),
            }
        }
    }
    if options.json {
        let kinds = options.kinds.iter().zip(&results).map(|(kind, runs)| {
            json!({ "kind": kind, "runs": runs.iter().map(Measured::json).collect::<Vec<_>>() })
        });
        println!("{:#}", kinds.collect::<serde_json::Value>());
    } else {
        table(&options.kinds, &results);
    }
    Ok(())
}

/// What a column is called, and what it says of one run.
type Column = (&'static str, fn(&Measured) -> String);

/// Prints a line for each kind, with all of its runs in each cell.
fn table(kinds: &[String], results: &[Vec<Measured>]) {
    let columns: [Column; 11] = [
        ("TCP Gbit/s", |m| format!("{:.2}", m.tcp_gbps)),
        ("retransmits", |m| m.retransmits.to_string()),
        ("spurious", |m| m.spurious.to_string()),
        ("overtaken", |m| m.overtaken.to_string()),
        ("TCP cpu s/M", |m| format!("{:.2}", m.tcp.seconds_per_million())),
        ("UDP k/s", |m| format!("{:.0}", m.flood.received / 1e3)),
        ("of k/s sent", |m| format!("{:.0}", m.flood.sent / 1e3)),
        ("UDP cpu s/M", |m| format!("{:.2}", m.flood.usage.seconds_per_million())),
        ("20k/s cpu s/M", |m| format!("{:.2}", m.easy.usage.seconds_per_million())),
        ("RTT p50 us", |m| format!("{:.0}", m.rtt(0.5))),
        ("p99", |m| format!("{:.0}", m.rtt(0.99))),
    ];
    let titles: Vec<_> = columns.iter().map(|(title, _)| format!("{title:>13}")).collect();
    println!("{:<14}{}", "", titles.join(" "));
    for (kind, runs) in kinds.iter().zip(results) {
        let cells = columns.iter().map(|(_, cell)| {
            let values: Vec<_> = runs.iter().map(cell).collect();
            format!("{:>13}", values.join("/"))
        });
        println!("{kind:<14}{}", cells.collect::<Vec<_>>().join(" "));
    }
}

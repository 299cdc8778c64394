//! The observer of the real-time loop: samples of every link, as the simulator takes them, and
//! packet captures.

use super::captures::Captures;
use emulator::Observer;
use net::{Direction, HostId, LinkId, Network};
use sim::Sampler;
use sim::recording::{StreamKind, StreamRecord};
use std::collections::BTreeSet;
use units::Time;

/// Collects the records of the links.
pub(super) struct Recorder {
    lines: Vec<(HostId, Direction, Sampler)>,
    pub(super) captures: Option<Captures>,
    /// Hosts that sent a packet over the MTU.
    pub(super) refused: BTreeSet<HostId>,
}

impl Recorder {
    /// Records the links of these hosts until `end`.
    pub(super) fn new(hosts: &[String], end: Time, captures: Option<Captures>) -> Self {
        let lines = (0..).map(HostId).zip(hosts).flat_map(|(id, host)| {
            Direction::ALL.map(|direction| {
                let sampler = Sampler::new(
                    format!("{host}.{direction}"),
                    StreamKind::Line,
                    (Time::ZERO, end),
                );
                (id, direction, sampler)
            })
        });
        Self { lines: lines.collect(), captures, refused: BTreeSet::new() }
    }

    /// The records, cut at the end of the run.
    pub(super) fn finish(self, end: Time) -> Vec<StreamRecord> {
        let lines = self.lines.into_iter();
        lines
            .map(|(_, _, mut line)| {
                line.close(end);
                line.finish(Vec::new())
            })
            .collect()
    }
}

impl Observer for Recorder {
    fn sample(&mut self, at: Time, network: &Network) {
        for (host, direction, sampler) in &mut self.lines {
            sampler.sample(at, |show| {
                network.show(LinkId { host: *host, direction: *direction }, at, show);
            });
        }
    }

    fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        if let Some(captures) = &mut self.captures {
            captures.packet(at, host, bytes);
        }
    }

    fn refused(&mut self, host: HostId) {
        self.refused.insert(host);
    }
}

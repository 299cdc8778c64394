//! The estimator of str0m. It is not exported, so this program compiles its files (`build.rs`) in
//! place of str0m's own crate; the items below are those of that crate which they use.

#[macro_use]
extern crate tracing;

use adapters::{Answer, Clock, Configuration, Estimator, Feedback, Packet, Probe, serve};
use bwe_::{Bwe, ProbeClusterConfig};
use rtp_::TwccSendRecord;
use std::collections::BTreeMap;
use std::time::Instant;

include!(concat!(env!("OUT_DIR"), "/str0m.rs"));

/// str0m's `rtp` module: identifiers, and a sent packet with its feedback.
pub(crate) mod rtp_ {
    use std::time::{Duration, Instant};
    pub use str0m_proto::{Bitrate, DataSize};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Mid;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) struct TwccSeq(pub(crate) u64);

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub(crate) struct TwccClusterId(pub(crate) u64);

    impl TwccClusterId {
        pub(crate) fn inc(&mut self) -> Self {
            self.0 += 1;
            Self(self.0 - 1)
        }
    }

    impl From<u64> for TwccClusterId {
        fn from(id: u64) -> Self {
            Self(id)
        }
    }

    #[derive(Debug)]
    pub(crate) struct TwccSendRecord {
        pub(crate) seq: TwccSeq,
        pub(crate) cluster: Option<TwccClusterId>,
        pub(crate) sent: Instant,
        pub(crate) size: usize,
        /// When the feedback came.
        pub(crate) told: Instant,
        pub(crate) arrival: Option<Instant>,
    }

    impl TwccSendRecord {
        pub(crate) fn seq(&self) -> TwccSeq {
            self.seq
        }
        pub(crate) fn cluster(&self) -> Option<TwccClusterId> {
            self.cluster
        }
        pub(crate) fn local_send_time(&self) -> Instant {
            self.sent
        }
        pub(crate) fn local_recv_time(&self) -> Option<Instant> {
            Some(self.told)
        }
        pub(crate) fn size(&self) -> usize {
            self.size
        }
        pub(crate) fn remote_recv_time(&self) -> Option<Instant> {
            self.arrival
        }
        pub(crate) fn rtt(&self) -> Option<Duration> {
            Some(self.told - self.sent)
        }
    }
}

pub(crate) use rtp_::{Bitrate, DataSize};

pub(crate) mod bwe {
    pub(crate) use str0m_proto::Bitrate;
}

pub(crate) mod util {
    pub(crate) use crate::average::MovingAverage;
    pub(crate) use crate::time_tricks::{already_happened, not_happening};
    use std::time::Instant;

    pub(crate) trait Soonest {
        fn soonest(self, other: Self) -> Self;
    }

    impl<T> Soonest for (Option<Instant>, T) {
        fn soonest(self, other: Self) -> Self {
            match (self.0, other.0) {
                (Some(one), Some(two)) if one < two => self,
                (_, None) => self,
                _ => other,
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::enum_variant_names, reason = "as in str0m")]
pub(crate) enum Reason {
    BweDelayControl,
    BweProbeControl,
    BweProbeEstimator,
}

/// The part of the connection that str0m's interface to the estimator uses, which is not called.
pub(crate) struct Rtc {
    session: Session,
}

pub(crate) struct Session;

impl Session {
    fn set_bwe_bitrate(&mut self, _minimum: Bitrate, _desired: Bitrate) {}
    fn reset_bwe(&mut self, _start: Bitrate) {}
}

pub(crate) mod poll {
    use crate::Rtc;

    pub(crate) struct RtcMut<'a>(&'a mut Rtc);

    impl<'a> RtcMut<'a> {
        pub(crate) fn new(rtc: &'a mut Rtc) -> Self {
            Self(rtc)
        }
        pub(crate) fn mutate(&mut self) -> &mut Rtc {
            self.0
        }
    }

    impl Rtc {
        pub(crate) fn no_events(&mut self) {}
    }
}

macro_rules! log_stat {
    ($($ignored:tt)*) => {};
}
pub(crate) use log_stat;

/// The pacing rate as a multiple of the estimate (`pacer/control.rs`).
const PACING_FACTOR: f64 = 1.1;

struct Str0m {
    bwe: Bwe,
    clock: Clock,
    estimate: f64,
    /// The probe clusters whose packets are not all sent, with their packets and bytes.
    clusters: BTreeMap<u32, (ProbeClusterConfig, usize, u64)>,
    probes: Vec<Probe>,
}

impl Str0m {
    fn new(call: &Configuration) -> Self {
        let bwe = Bwe::new(Bitrate::from(call.start_rate));
        let (clusters, probes) = (BTreeMap::new(), Vec::new());
        let (clock, estimate) = (Clock::new(), call.start_rate);
        let mut this = Self { bwe, clock, estimate, clusters, probes };
        this.on_timeout(0.0);
        this
    }

    /// As `Session::handle_timeout_bwe`.
    fn handle_timeout(&mut self, now: Instant) {
        let Some(config) = self.bwe.handle_timeout(now, true) else { return };
        if self.bwe.start_probe(config, now) {
            // Weir counts from 1.
            let id = config.cluster().0 as u32 + 1;
            let rate = config.target_bitrate().as_f64();
            self.probes.push(Probe {
                id,
                rate,
                min_duration: config.target_bytes().as_bytes_f64() * 8.0 / rate,
                min_packets: config.min_packet_count() as u32,
            });
            self.clusters.insert(id, (config, 0, 0));
        }
    }
}

impl Estimator for Str0m {
    fn on_allocation(&mut self, _now: f64, _min: f64, max: f64) {
        self.bwe.set_bitrate(Bitrate::ZERO, Bitrate::from(max));
    }

    fn on_sent(&mut self, packet: &Packet) {
        let at = self.clock.instant(packet.sent);
        let size = DataSize::from(packet.size as usize);
        self.bwe.on_media_sent(size, packet.probe.is_some(), at);
        let Some(id) = packet.probe else { return };
        let Some((config, packets, bytes)) = self.clusters.get_mut(&id) else { return };
        *packets += 1;
        *bytes += packet.size;
        // As `ProbeClusterState::is_complete`.
        if *packets >= config.min_packet_count()
            && *bytes as f64 >= config.target_bytes().as_bytes_f64()
        {
            let cluster = config.cluster();
            self.clusters.remove(&id);
            self.bwe.end_probe(at, cluster);
        }
    }

    fn on_feedback(&mut self, now: f64, feedback: &Feedback) {
        let Feedback::Packets { results } = feedback else { return };
        let now = self.clock.instant(now);
        let record = |packet: &Packet| TwccSendRecord {
            seq: rtp_::TwccSeq(packet.sequence),
            cluster: packet.probe.map(|id| rtp_::TwccClusterId(u64::from(id) - 1)),
            sent: self.clock.instant(packet.sent),
            size: packet.size as usize,
            told: now,
            arrival: packet.arrival.map(|arrival| self.clock.instant(arrival)),
        };
        let records: Vec<TwccSendRecord> = results.iter().map(record).collect();
        self.bwe.update(records.iter(), now);
        self.handle_timeout(now);
    }

    fn on_timeout(&mut self, now: f64) {
        self.handle_timeout(self.clock.instant(now));
    }

    fn answer(&mut self, now: f64) -> Answer {
        if let Some(estimate) = self.bwe.poll_estimate() {
            self.estimate = estimate.as_f64();
        }
        let newest = self.bwe.last_estimate().map_or(self.estimate, |estimate| estimate.as_f64());
        let due = self.bwe.poll_timeout().0.map(|due| self.clock.seconds(due));
        // A time in the past is due at once; one far in the future is none.
        let due = due.map(|due| due.max(now + 1e-3)).filter(|due| *due < 1e6);
        Answer {
            target_rate: self.estimate,
            pacing_rate: Some(newest * PACING_FACTOR),
            probes: std::mem::take(&mut self.probes),
            next_timeout: due,
            signals: [("estimate", newest)].into(),
        }
    }
}

fn main() -> std::io::Result<()> {
    serve(Str0m::new)
}

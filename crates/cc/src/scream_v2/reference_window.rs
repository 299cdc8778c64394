//! The reference window: reduction at losses, marks and delay, and increase (§ on the reference
//! window update).

use super::config::{EcnMode, Inflection, ScreamV2Config};
use super::l4s_alpha::L4sAlpha;
use super::ntp;
use super::queue_delay::QueueDelay;
use super::rtt::Rtt;

/// The code measures the MSS again after this time (`kMssUpdateInterval`, 1 s), and then allows
/// this many segments at least (`kMinCwndMss`).
const MSS_INTERVAL: u64 = 65_536;
const MSS_SEGMENTS: u64 = 3;
/// Least factor of the increase and the reduction near the inflection point; the range around the
/// point in which they are small is an eighth of the window.
const NEAR_INCREASE: f64 = 0.25;
const NEAR_SLOPE: f64 = 8.0;
const NEAR_LEAST: f64 = 0.1;
/// Round-trip times without congestion after which the window is cut to the bytes in flight.
const LONG_AGO: f64 = 100.0;
/// Round-trip times between two changes of the inflection point (draft).
const INFLECTION_RTTS: u64 = 10;
/// Share of the target above which a queue weakens near-inflection damping.
const QUEUE_SHARE: f64 = 0.25;
/// Below this l4s_alpha the network does not seem to mark.
const UNMARKED: f64 = 0.0001;

/// The signs of congestion since the last update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Congestion {
    pub(super) lost: bool,
    pub(super) marked: bool,
    /// `l4s_alpha_v`, the reduction that the queue delay asks for.
    pub(super) delayed: Option<f64>,
}

impl Congestion {
    pub(super) fn is_any(&self) -> bool {
        self.lost || self.marked || self.delayed.is_some()
    }
}

/// What the update needs of the other stages.
pub(super) struct Situation<'a> {
    pub(super) now: u64,
    pub(super) rtt: &'a Rtt,
    pub(super) delay: &'a QueueDelay,
    pub(super) alpha: &'a L4sAlpha,
    pub(super) delay_target: f64,
    /// Maximum bytes in flight of this and of the last interval.
    pub(super) in_flight: [u64; 2],
    pub(super) target: f64,
    pub(super) max_target: f64,
    pub(super) acked_rate: f64,
    pub(super) acked: u64,
    pub(super) acked_marked: u64,
}

pub(super) struct ReferenceWindow {
    config: ScreamV2Config,
    /// In bytes.
    window: f64,
    inflection: f64,
    inflection_set: u64,
    /// The window has not grown since the inflection point was set.
    inflection_blocked: bool,
    min_segments: u64,
    mss: u64,
    mss_before: u64,
    mss_updated: u64,
    /// MSS/window, which the update before this one left.
    ratio: f64,
    congested: u64,
    reacted: u64,
    post_congestion: f64,
    /// The bytes in flight do not fill the window: the media limit the rate.
    pub(super) limited: bool,
}

impl ReferenceWindow {
    pub(super) fn new(config: &ScreamV2Config) -> Self {
        let mss = config.mss.get();
        let window = (config.min_ref_wnd.get() as f64).max((config.min_segments * mss) as f64);
        Self {
            config: config.clone(),
            window,
            inflection: 1.0,
            inflection_set: 0,
            inflection_blocked: false,
            min_segments: config.min_segments,
            mss,
            mss_before: mss,
            mss_updated: 0,
            ratio: 0.001,
            congested: 0,
            reacted: 0,
            post_congestion: 1.0,
            limited: false,
        }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.mss_updated = now;
    }

    /// Measures the MSS anew each second, if it is measured.
    pub(super) fn measure_mss(&mut self, now: u64) {
        if self.config.mss_measured && now.saturating_sub(self.mss_updated) > MSS_INTERVAL {
            self.mss_before = self.mss;
            self.mss = self.config.mss.get();
            self.mss_updated = now;
            self.min_segments = MSS_SEGMENTS;
            self.window = self.window.max(self.least());
        }
    }

    /// A packet of this size leaves.
    pub(super) fn on_packet(&mut self, size: u64) {
        if self.config.mss_measured {
            self.mss = self.mss.max(size);
            self.min_segments = self.config.min_segments;
            self.window = self.window.max(self.least());
        }
    }

    /// MSS in bytes.
    pub(super) fn mss(&self) -> u64 {
        self.mss.max(self.mss_before)
    }

    /// The least window.
    pub(super) fn least(&self) -> f64 {
        let segments = (self.min_segments * self.mss()) as f64;
        segments.max(self.config.min_ref_wnd.get() as f64)
    }

    /// ref_wnd in bytes.
    pub(super) fn get(&self) -> f64 {
        self.window
    }

    /// Cuts the window.
    pub(super) fn limit(&mut self, bytes: f64) {
        self.window = self.window.min(bytes);
    }

    /// `ref_wnd_ratio`: MSS/window, at most 1.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio.min(1.0)
    }

    /// ref_wnd_i in bytes.
    pub(super) fn inflection(&self) -> f64 {
        self.inflection
    }

    pub(super) fn post_congestion(&self) -> f64 {
        self.post_congestion
    }

    /// Whole bytes, if the window is counted so.
    fn whole(&self, bytes: f64) -> f64 {
        if self.config.whole_bytes { bytes.floor() } else { bytes }
    }

    /// Updates the window.
    pub(super) fn update(&mut self, congestion: Congestion, with: &Situation<'_>) {
        let near = self.nearness();
        self.ratio = self.mss() as f64 / self.window;
        self.post_congestion = self.since_congestion(with);
        if congestion.is_any() {
            self.note_inflection(with);
            let reduced = self.reduced(congestion, with, near);
            self.window = reduced.max(self.least());
            self.reacted = with.now;
            if congestion.lost || congestion.marked || self.config.delay_congests {
                self.congested = with.now;
                self.post_congestion = 0.0;
            }
        }
        self.increase(with, near);
        self.window = self.window.max(self.least());
    }

    /// 0.1 at the inflection point, 1 from an eighth away from it.
    fn nearness(&self) -> f64 {
        let distance = NEAR_SLOPE * (self.window - self.inflection) / self.inflection;
        (distance * distance).clamp(NEAR_LEAST, 1.0)
    }

    /// 0 after congestion, rising to 1.
    fn since_congestion(&self, with: &Situation<'_>) -> f64 {
        let mut rtt = with.rtt.seconds();
        if self.config.post_congestion_virtual {
            rtt = rtt.max(self.config.virtual_rtt.as_secs_f64());
        }
        let span = self.config.post_congestion_rtts * rtt;
        let since = ntp::seconds(with.now.saturating_sub(self.congested));
        if span > 0.0 { (since / span).min(1.0) } else { 1.0 }
    }

    fn note_inflection(&mut self, with: &Situation<'_>) {
        let is_due = match self.config.inflection {
            Inflection::Spaced => {
                with.now.saturating_sub(self.inflection_set) > INFLECTION_RTTS * with.rtt.ticks()
            }
            Inflection::Grown => !self.inflection_blocked,
        };
        if is_due {
            self.inflection = self.window.max(1.0);
            self.inflection_set = with.now;
            self.inflection_blocked = true;
        }
    }

    /// The window after the reduction.
    fn reduced(&self, congestion: Congestion, with: &Situation<'_>, near: f64) -> f64 {
        let mut window = self.window;
        if congestion.lost {
            window = self.whole(self.config.beta_loss * window);
            if self.config.one_sign {
                return window;
            }
        }
        if congestion.marked {
            if self.config.ecn != EcnMode::Ect1 {
                return self.whole(self.config.beta_ecn * window);
            }
            let mut backoff = self.damped(with.alpha.get() / 2.0, with);
            if with.delay.newest < QUEUE_SHARE * with.delay_target {
                backoff *= near.max(NEAR_INCREASE);
                backoff *= with.delay.steadiness().max(NEAR_INCREASE);
            }
            let virtual_rtt = self.config.virtual_rtt.as_secs_f64();
            let long_ago = LONG_AGO * with.rtt.seconds().max(virtual_rtt);
            if ntp::seconds(with.now.saturating_sub(self.reacted)) > long_ago {
                window = window.min(with.in_flight[1] as f64);
            }
            return self.whole((1.0 - backoff) * window);
        }
        if let Some(alpha) = congestion.delayed {
            window = self.whole((1.0 - self.damped(alpha / 2.0, with)) * window);
        }
        window
    }

    /// The rules that reductions by marks and by delay share.
    fn damped(&self, mut backoff: f64, with: &Situation<'_>) -> f64 {
        if with.target < self.config.acked_share * with.acked_rate {
            backoff *= 0.25;
        }
        if self.config.per_rtt {
            backoff /= self.reactions_per_rtt(with.rtt);
        }
        if self.config.small_window {
            backoff *= (1.0 - self.ratio()).max(0.5);
        }
        backoff
    }

    /// How many reactions fit into a round-trip time, at least 1.
    pub(super) fn reactions_per_rtt(&self, rtt: &Rtt) -> f64 {
        let interval = ntp::span(self.config.reaction_interval).max(1);
        (rtt.ticks() as f64 / interval as f64).max(1.0)
    }

    fn increase(&mut self, with: &Situation<'_>, near: f64) {
        let before = self.window;
        let unmarked = with.acked.saturating_sub(with.acked_marked) as f64;
        let mut increment = unmarked * self.ratio() * near.max(NEAR_INCREASE);
        let share = (with.rtt.seconds() / self.config.virtual_rtt.as_secs_f64()).min(1.0);
        increment *= libm::pow(share, self.config.virtual_power);
        if self.config.small_window {
            increment *= (1.0 - self.ratio()).max(0.5);
        }
        if self.config.delay_reduces_increase && with.alpha.get() < UNMARKED {
            increment *= (1.0 - with.delay.average / (with.delay_target / 4.0)).max(0.1);
        }
        increment *= with.delay.steadiness().max(0.1);
        let growth = self.config.mul_increase * self.window / self.mss() as f64;
        increment *= 1.0 + growth * self.post_congestion * near;
        let greatest = with.in_flight[0].max(with.in_flight[1]) as f64;
        let allowed = self.mss() as f64 + greatest * self.config.head_room;
        self.limited = allowed < self.window;
        let rounded = if self.config.whole_bytes { (increment + 0.5).floor() } else { increment };
        let grown = self.window + rounded;
        if grown <= allowed && with.target < with.max_target {
            self.window = grown;
        }
        if self.window > before {
            self.inflection_blocked = false;
        }
    }
}

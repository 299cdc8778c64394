//! The settings, with the values of RFC 8698, Figure 3, and those of the authors' code.

use crate::gcc::words::words;
use crate::profile::BuildError;
use crate::ranges::{at_least, within};
use crate::scream_v2::EcnMode;
use crate::setting::settings;
use units::Duration;

words! {
    /// Where delay, loss and marking are estimated.
    pub enum Side {
        /// At the receiver, which reports the congestion signal (§ 4.2).
        Receiver = "receiver",
        /// At the sender, from feedback per packet (§ 6.4).
        Sender = "sender",
    }
}

settings! {
    /// Every constant. `min_rate` and `max_rate` of the call are RMIN and RMAX.
    pub struct NadaConfig {
        /// Where the congestion signal is estimated: receiver (§ 4.2), which reports it, or sender
        /// (§ 6.4), from feedback per packet.
        "side" => side: Side,
        /// The ECN field of the packets that leave: not-ect, ect0 or ect1 (§ 5.1.2 names RFC 6679;
        /// without ECN the marking ratio is 0). In the sender's form marks need feedback that
        /// carries ECN.
        "ecn" => ecn: EcnMode,
        /// PRIO, the weight of the flow (Fig. 3: 1.0).
        "prio" => prio: f64,
        /// XREF, the reference congestion level at RMAX (Fig. 3: 10 ms).
        "xref" => xref: Duration,
        /// κ, the gain of the gradual update (Fig. 3: 0.5).
        "kappa" => kappa: f64,
        /// η, the weight of the change of the congestion signal (Fig. 3: 2.0).
        "eta" => eta: f64,
        /// τ, the upper bound of the round-trip time in the gradual update (Fig. 3: 500 ms).
        "tau" => tau: Duration,
        /// DELTA, the feedback interval (Fig. 3: 100 ms).
        "delta" => delta: Duration,
        /// Minimum time between two updates of the rate at the sender's form (§ 4.2: DELTA, 100 ms;
        /// the code updates from 50 ms on).
        "update.min_interval" => min_update: Duration,
        /// Whether the sender's form updates after the first packet of a message if DELTA has
        /// passed, so that the rest of the message counts in the next update (the code,
        /// `processFeedback`: true; the text updates after the message: false).
        "update.first_packet" => first_packet: bool,
        /// LOGWIN, the observation window in sending time (Fig. 3: 500 ms).
        "logwin" => logwin: Duration,
        /// QEPS, the queuing delay up to which the rate ramps up (Fig. 3: 10 ms).
        "qeps" => qeps: Duration,
        /// DFILT, the bound of the filtering delay (Fig. 3: 120 ms).
        "dfilt" => dfilt: Duration,
        /// GAMMA_MAX, the maximum increase ratio of the ramp-up (Fig. 3: 0.5).
        "gamma_max" => gamma_max: f64,
        /// QBOUND, the bound of the delay that the ramp-up causes (Fig. 3: 50 ms).
        "qbound" => qbound: Duration,
        /// MULTILOSS, for how many average loss intervals a loss counts as recent (Fig. 3: 7).
        "multiloss" => multiloss: f64,
        /// QTH, the delay from which the delay is warped if losses are recent (Fig. 3: 50 ms).
        "qth" => qth: Duration,
        /// Whether the delay is compared with QTH in whole milliseconds (the code, `calcDtilde`:
        /// true).
        "qth.whole_ms" => whole_ms: bool,
        /// λ, the exponent of the warping (Fig. 3: 0.5).
        "lambda" => lambda: f64,
        /// PLRREF, the reference loss ratio (Fig. 3: 0.01).
        "plrref" => plrref: f64,
        /// PMRREF, the reference marking ratio (Fig. 3: 0.01).
        "pmrref" => pmrref: f64,
        /// DLOSS, the penalty at the reference loss ratio (Fig. 3: 10 ms).
        "dloss" => dloss: Duration,
        /// DMARK, the penalty at the reference marking ratio (Fig. 3: 2 ms). The code ignores
        /// marks, that is, 0.
        "dmark" => dmark: Duration,
        /// Maximum of the congestion signal (§ 5.3: 15 bits in units of 0.1 ms; the code: 500 ms).
        "x_max" => x_max: Duration,
        /// FPS, the frame rate in the rate shaping (Fig. 3: 30).
        "fps" => fps: f64,
        /// BETA_S, the gain of the sending rate by the rate-shaping buffer (Fig. 3: 0.1; the code:
        /// 0).
        "beta_s" => beta_s: f64,
        /// BETA_V, the gain of the encoder's rate by the rate-shaping buffer (Fig. 3: 0.1; the
        /// code: 0).
        "beta_v" => beta_v: f64,
        /// ALPHA, the gain of the smoothing of loss and marking ratio per update (Fig. 3: 0.1).
        "alpha" => alpha: f64,
        /// Length of the minimum filter of queuing delay and round-trip time, in packets (§ 5.1.1:
        /// 15).
        "filter.packets" => filter_packets: usize,
        /// Minimum number of packets in the window for loss ratio and receiving rate (the text is
        /// silent; the code, `MIN_PACKET_LOGLEN`: 5).
        "window.min_packets" => min_packets: usize,
        /// Time after which a minimum of the base delay expires (§ 5.1.1: tens of minutes, without
        /// a value; 10min is the least of them). 0s: never, as in the code.
        "base.window" => base_window: Duration,
        /// The history starts again, base delay and loss intervals included, after this time
        /// between two reported packets (the code, `MAX_INTER_PACKET_TIME_US`: 500 ms). 0s: never,
        /// as in the text.
        "history.max_gap" => max_gap: Duration,
    }
}

impl NadaConfig {
    /// The values of RFC 8698.
    pub(crate) fn published() -> Self {
        let ms = Duration::from_millis;
        Self {
            side: Side::Receiver,
            ecn: EcnMode::NotEct,
            prio: 1.0,
            xref: ms(10),
            kappa: 0.5,
            eta: 2.0,
            tau: ms(500),
            delta: ms(100),
            min_update: ms(100),
            first_packet: false,
            logwin: ms(500),
            qeps: ms(10),
            dfilt: ms(120),
            gamma_max: 0.5,
            qbound: ms(50),
            multiloss: 7.0,
            qth: ms(50),
            whole_ms: false,
            lambda: 0.5,
            plrref: 0.01,
            pmrref: 0.01,
            dloss: ms(10),
            dmark: ms(2),
            x_max: Duration::from_micros(3_276_700),
            fps: 30.0,
            beta_s: 0.1,
            beta_v: 0.1,
            alpha: 0.1,
            filter_packets: 15,
            min_packets: 5,
            base_window: Duration::from_secs(600),
            max_gap: Duration::ZERO,
        }
    }

    /// The values of the authors' code (cisco/ns3-rmcat of 2020-09-16).
    pub(crate) fn code() -> Self {
        Self {
            side: Side::Sender,
            min_update: Duration::from_millis(50),
            first_packet: true,
            whole_ms: true,
            dmark: Duration::ZERO,
            x_max: Duration::from_millis(500),
            beta_s: 0.0,
            beta_v: 0.0,
            base_window: Duration::ZERO,
            max_gap: Duration::from_millis(500),
            ..Self::published()
        }
    }

    /// Checks the ranges of the values.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let numbers = [
            ("prio", self.prio),
            ("kappa", self.kappa),
            ("eta", self.eta),
            ("gamma_max", self.gamma_max),
            ("multiloss", self.multiloss),
            ("lambda", self.lambda),
            ("fps", self.fps),
            ("beta_s", self.beta_s),
            ("beta_v", self.beta_v),
        ];
        within(&numbers, &(0.0..=1e6))?;
        within(&[("plrref", self.plrref), ("pmrref", self.pmrref)], &(1e-6..=1.0))?;
        within(&[("alpha", self.alpha)], &(0.0..=1.0))?;
        let counts =
            [("filter.packets", self.filter_packets), ("window.min_packets", self.min_packets)];
        within(&counts, &(1..=1000))?;
        let times = [
            ("tau", self.tau),
            ("delta", self.delta),
            ("update.min_interval", self.min_update),
            ("logwin", self.logwin),
            ("qth", self.qth),
        ];
        at_least(&times, &Duration::from_millis(1))
    }
}

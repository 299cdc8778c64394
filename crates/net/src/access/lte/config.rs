//! The configuration of LTE networks and terminals.

use crate::packet::Direction;
use crate::queue::{FULL_PACKET, Filter, QueueConfig};
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Frequency, Metres, Speed};

/// A network: base stations whose cells share a carrier (FDD).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LteConfig {
    /// Its name, for messages. (Random streams are named after the hosts.)
    pub name: String,
    /// The bandwidth of the carrier, equal in both directions.
    pub bandwidth: ChannelBandwidth,
    /// The frequency of the carrier.
    pub carrier: Frequency,
    /// The positions of the base stations.
    pub layout: Layout,
    /// The path loss.
    pub path_loss: UrbanLoss,
    /// Slow changes of the signal, by obstacles.
    pub shadowing: Shadowing,
    /// Fast changes of the signal, by multipath propagation.
    pub fast_fading: FastFading,
    /// The transmit power of a cell over the whole bandwidth.
    pub tx_power: Dbm,
    /// The gain of a cell's antenna in its main direction, minus cable losses.
    pub antenna_gain: Decibels,
    /// The noise figure of a cell's receiver.
    pub noise_figure: Decibels,
    /// The most spatial layers in the downlink, 1 or 2 (2×2 MIMO, one codeword per layer). The
    /// uplink has one.
    pub layers: u8,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// The bearers of each terminal. The first is the default bearer, which takes the packets that
    /// no filter of another matches.
    pub bearers: Vec<BearerConfig>,
    /// The most HARQ retransmissions of a transport block, 0…7 (36.321 § 5.4.2; maxHARQ-Tx is one
    /// more).
    pub harq_retransmissions: u8,
    /// The period of scheduling requests, 1 to 80 ms (36.213 § 10.1.5, table 10.1.5-1).
    pub scheduling_request_period: Duration,
    /// The handover between cells.
    pub handover: Handover,
}

/// The bandwidth of a carrier (36.101 § 5.6, table 5.6-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ChannelBandwidth {
    /// 1.4 MHz, 6 resource blocks.
    Mhz1_4,
    /// 3 MHz, 15 resource blocks.
    Mhz3,
    /// 5 MHz, 25 resource blocks.
    #[default]
    Mhz5,
    /// 10 MHz, 50 resource blocks.
    Mhz10,
    /// 15 MHz, 75 resource blocks.
    Mhz15,
    /// 20 MHz, 100 resource blocks.
    Mhz20,
}

impl ChannelBandwidth {
    /// Every bandwidth.
    pub const ALL: [Self; 6] =
        [Self::Mhz1_4, Self::Mhz3, Self::Mhz5, Self::Mhz10, Self::Mhz15, Self::Mhz20];

    /// The number of resource blocks per subframe.
    #[must_use]
    pub const fn resource_blocks(self) -> u8 {
        match self {
            Self::Mhz1_4 => 6,
            Self::Mhz3 => 15,
            Self::Mhz5 => 25,
            Self::Mhz10 => 50,
            Self::Mhz15 => 75,
            Self::Mhz20 => 100,
        }
    }

    /// The bandwidth in hertz.
    #[must_use]
    pub const fn frequency(self) -> Frequency {
        match self {
            Self::Mhz1_4 => Frequency::from_khz(1_400),
            Self::Mhz3 => Frequency::from_khz(3_000),
            Self::Mhz5 => Frequency::from_khz(5_000),
            Self::Mhz10 => Frequency::from_khz(10_000),
            Self::Mhz15 => Frequency::from_khz(15_000),
            Self::Mhz20 => Frequency::from_khz(20_000),
        }
    }
}

/// The positions of the base stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Layout {
    /// One cell without interference from others.
    Single,
    /// Seven sites on a hexagonal grid with wrap-around: copies of the network surround it (25.942
    /// § 5.1.3).
    Hexagonal {
        /// The distance between neighbouring sites.
        inter_site_distance: Metres,
        /// Cells per site, 1 or 3; three have antennas of 70° (36.942 § 4.2.1).
        sectors: u8,
    },
}

impl Layout {
    /// The number of cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Hexagonal { sectors, .. } => 7 * sectors as usize,
        }
    }
}

/// Urban path loss: a loss at a kilometre, and ten times the exponent per decade of distance
/// (36.942 § 4.5.2, 25.814 table A.2.1.1-3).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UrbanLoss {
    /// The loss at a kilometre.
    pub at_a_kilometre: Decibels,
    /// The exponent.
    pub exponent: f64,
    /// The penetration loss around the terminal: a car, a wall.
    pub penetration: Decibels,
}

impl Default for UrbanLoss {
    /// 128.1 dB + 37.6 log₁₀(distance / km) at 2 GHz (36.942 § 4.5.2), no penetration loss.
    fn default() -> Self {
        Self {
            at_a_kilometre: Decibels::from_f64(128.1),
            exponent: 3.76,
            penetration: Decibels::ZERO,
        }
    }
}

/// Shadowing: slow changes of the signal, normally distributed in decibels, with an autocorrelation
/// over the distance that a terminal has moved (Gudmundson 1991, equation 2). Half of the variance
/// is common to all sites, and all cells of a site have the same shadowing (25.814 table
/// A.2.1.1-3).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shadowing {
    /// The standard deviation; zero: no shadowing.
    pub deviation: Decibels,
    /// The distance after which the autocorrelation is 1/e.
    pub distance: Metres,
}

impl Shadowing {
    /// No changes.
    pub const NONE: Self = Self { deviation: Decibels::ZERO, distance: Metres::new(50) };
}

/// Fast changes of the signal.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum FastFading {
    /// None.
    None,
    /// Rayleigh fading with the Doppler spectrum of Clarke for the terminal's speed.
    #[default]
    Rayleigh,
    /// A recorded gain, which repeats; each terminal starts at its own random time.
    Trace(std::sync::Arc<crate::trace::FadingTrace>),
}

/// The scheduler of packets that no guaranteed bit rate covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Scheduler {
    /// Round robin.
    RoundRobin,
    /// Proportional fair: the terminal with the best ratio of its possible rate to its average rate
    /// (Jalali et al. 2000; Tse's algorithm).
    ProportionalFair {
        /// The averaging window of the rate.
        window: Duration,
    },
}

impl Default for Scheduler {
    /// Proportional fair over a second (Jalali, Padovani & Pankaj 2000 § III: 1000 slots of 1.67
    /// ms).
    fn default() -> Self {
        Self::ProportionalFair { window: Duration::from_secs(1) }
    }
}

/// A bearer that every terminal has, with both directions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BearerConfig {
    /// The QoS class identifier, 1…9, which determines the priority (23.203 table 6.1.7).
    pub qci: u8,
    /// The guaranteed bit rate per direction; required for QCI 1 to 4, not allowed for others.
    pub gbr: Option<Bitrate>,
    /// The RLC mode: what happens after the loss of a transport block.
    pub rlc: RlcMode,
    /// The queue at the terminal.
    pub up: QueueConfig,
    /// The queue at the base station.
    pub down: QueueConfig,
    /// The longest time that a packet may wait (discardTimer, 36.323 § 5.4); `None`: no limit.
    pub discard_timer: Option<Duration>,
    /// The traffic flow template: packets that match any of these filters use this bearer (23.401 §
    /// 4.7.2). Empty for the default bearer.
    pub filters: Vec<Filter>,
}

impl BearerConfig {
    /// The priority; lower numbers are served first (23.203 table 6.1.7).
    #[must_use]
    pub const fn priority(&self) -> u8 {
        match self.qci {
            5 => 1,
            1 => 2,
            3 => 3,
            2 => 4,
            4 => 5,
            other => other,
        }
    }

    /// The priority of bytes above the guaranteed bit rate: that of the default class, so that they
    /// are shared like all others.
    #[must_use]
    pub(crate) const fn priority_of_rest(&self) -> u8 {
        if self.is_gbr() { 9 } else { self.priority() }
    }

    /// Whether the QCI has a guaranteed bit rate.
    #[must_use]
    pub const fn is_gbr(&self) -> bool {
        matches!(self.qci, 1..=4)
    }
}

impl Default for BearerConfig {
    /// The default bearer of Internet access: QCI 9, acknowledged mode (23.203 table 6.1.7: a loss
    /// rate of 10⁻⁶, which unacknowledged mode does not reach), 1000 packets per direction, as for
    /// Linux devices (`txqueuelen`, `net/ethernet/eth.c`).
    fn default() -> Self {
        Self {
            qci: 9,
            gbr: None,
            rlc: RlcMode::Acknowledged,
            up: QueueConfig::Pfifo(1_000),
            down: QueueConfig::Pfifo(1_000),
            discard_timer: None,
            filters: Vec::new(),
        }
    }
}

/// The RLC mode: what happens after HARQ gives a transport block up (36.322 § 4.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum RlcMode {
    /// The packets are lost.
    Unacknowledged,
    /// The data are retransmitted.
    #[default]
    Acknowledged,
}

/// Handover to another cell (event A3, 36.331 § 5.5.4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Handover {
    /// The margin by which another cell must be better.
    pub hysteresis: Decibels,
    /// The time for which it must be better.
    pub time_to_trigger: Duration,
    /// The time without transmissions at a handover.
    pub interruption: Duration,
}

impl Default for Handover {
    /// 3 dB for 160 ms (one of the values of 36.331 § 6.3.5, TimeToTrigger), then 50 ms (36.881 §
    /// 5.2: 49.5 ms as a rule).
    fn default() -> Self {
        Self {
            hysteresis: Decibels::new(3),
            time_to_trigger: Duration::from_millis(160),
            interruption: Duration::from_millis(50),
        }
    }
}

impl Default for LteConfig {
    /// A cell of 5 MHz at 2 GHz with the base station of 25.814 § A.2.1.1: 43 dBm, 14 dBi, a noise
    /// figure of 5 dB.
    fn default() -> Self {
        Self {
            name: "lte".into(),
            bandwidth: ChannelBandwidth::default(),
            carrier: Frequency::from_mhz(2_000),
            layout: Layout::Single,
            path_loss: UrbanLoss::default(),
            shadowing: Shadowing::NONE,
            fast_fading: FastFading::default(),
            tx_power: Dbm::new(43),
            antenna_gain: Decibels::new(14),
            noise_figure: Decibels::new(5),
            layers: 2,
            scheduler: Scheduler::default(),
            bearers: vec![BearerConfig::default()],
            harq_retransmissions: 3,
            // Within the 5 ms to 80 ms of 36.331 § 6.3.2, SchedulingRequestConfig.
            scheduling_request_period: Duration::from_millis(10),
            handover: Handover::default(),
        }
    }
}

impl LteConfig {
    /// The smallest buffer: it holds a full-sized packet.
    const MIN_BUFFER: Bytes = FULL_PACKET;

    /// The most bytes that can wait in that direction in the bearer with the smallest buffer;
    /// `None` if no bearer has a limit.
    #[must_use]
    pub fn buffer(&self, direction: Direction) -> Option<Bytes> {
        let queues = self.bearers.iter().map(|bearer| bearer.queue(direction));
        queues.filter_map(|queue| queue.buffer(None)).min()
    }

    /// Checks that such a network can exist.
    pub(crate) fn check(&self) -> Result<(), LteError> {
        self.problem().map_or(Ok(()), |problem| {
            Err(LteError::Network { network: self.name.clone(), problem })
        })
    }

    fn problem(&self) -> Option<LteProblem> {
        if !(1..=2).contains(&self.layers) {
            return Some(LteProblem::Layers(self.layers));
        }
        if let Layout::Hexagonal { sectors, inter_site_distance } = self.layout {
            if !matches!(sectors, 1 | 3) {
                return Some(LteProblem::Sectors(sectors));
            }
            if inter_site_distance < Layout::NEAREST {
                return Some(LteProblem::SiteDistance(inter_site_distance));
            }
        }
        if self.harq_retransmissions > 7 {
            return Some(LteProblem::Retransmissions(self.harq_retransmissions));
        }
        let period = self.scheduling_request_period;
        if period < Duration::from_millis(1) || period > Duration::from_millis(80) {
            return Some(LteProblem::SchedulingRequest(period));
        }
        if self.scheduler == (Scheduler::ProportionalFair { window: Duration::ZERO }) {
            return Some(LteProblem::NoWindow);
        }
        if let FastFading::Trace(trace) = &self.fast_fading
            && (trace.interval < Duration::from_millis(1)
                || trace.gains.first().is_none_or(Vec::is_empty)
                || trace.gains.iter().any(|row| row.len() != trace.gains[0].len()))
        {
            return Some(LteProblem::FadingTrace);
        }
        let Some(default) = self.bearers.first() else {
            return Some(LteProblem::NoBearer);
        };
        if default.is_gbr() || !default.filters.is_empty() {
            return Some(LteProblem::DefaultBearer);
        }
        self.bearers.iter().enumerate().find_map(|(index, bearer)| bearer.problem(index > 0))
    }
}

impl Layout {
    /// The smallest distance between sites: a smaller one is taken for a typo. Terminals keep 35 m
    /// from each site (36.942 § 4.5.2).
    pub(crate) const NEAREST: Metres = Metres::new(100);
}

impl BearerConfig {
    /// Checks that a terminal can have this dedicated bearer.
    pub(crate) fn check_dedicated(&self) -> Result<(), LteProblem> {
        self.problem(true).map_or(Ok(()), Err)
    }

    /// The queue of a direction.
    pub(super) const fn queue(&self, direction: Direction) -> &QueueConfig {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    fn problem(&self, dedicated: bool) -> Option<LteProblem> {
        let qci = self.qci;
        if !(1..=9).contains(&qci) {
            return Some(LteProblem::Qci(qci));
        }
        match (self.is_gbr(), self.gbr.is_some_and(|gbr| gbr > Bitrate::ZERO)) {
            (true, false) => return Some(LteProblem::GbrMissing(qci)),
            (false, true) => return Some(LteProblem::GbrNotAllowed(qci)),
            _ => {}
        }
        if dedicated && self.filters.is_empty() {
            return Some(LteProblem::NoFilter(qci));
        }
        [&self.up, &self.down].into_iter().find_map(|queue| match queue {
            queue if queue.shapes() => Some(LteProblem::QueueShapes(qci)),
            QueueConfig::DropTail(_) => Some(LteProblem::LimitInTime(qci)),
            QueueConfig::Bfifo(limit) if *limit < LteConfig::MIN_BUFFER => {
                Some(LteProblem::SmallBuffer(qci))
            }
            _ => None,
        })
    }
}

/// A terminal of a network.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LteTerminal {
    /// Its network, as an index into the list of networks.
    pub network: usize,
    /// The initial position.
    pub place: Start,
    /// The speed, in a random direction, straight on. A terminal at a given distance does not move:
    /// then the speed determines only the fast fading.
    pub speed: Speed,
    /// The maximum transmit power.
    pub tx_power: Dbm,
    /// The noise figure of its receiver.
    pub noise_figure: Decibels,
}

/// The initial position of a terminal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Start {
    /// At a given distance from the base station, in the main direction of its antenna. For
    /// networks of one cell.
    At {
        /// The distance to the base station.
        distance: Metres,
        /// The loss by obstacles or by the antenna pattern.
        obstacles: Decibels,
    },
    /// A uniformly distributed random position.
    Anywhere,
}

impl Default for LteTerminal {
    /// At rest 100 m away; power class 3, 23 dBm (36.101 table 6.2.2-1); a noise figure of 9 dB
    /// (25.814 table A.2.1.1-3).
    fn default() -> Self {
        Self {
            network: 0,
            place: Start::At { distance: Metres::new(100), obstacles: Decibels::ZERO },
            speed: Speed::ZERO,
            tx_power: Dbm::new(23),
            noise_figure: Decibels::new(9),
        }
    }
}

impl LteTerminal {
    /// Checks that the terminal of this host can exist in its network, and that the network can.
    pub(crate) fn check(&self, host: &str, networks: &[LteConfig]) -> Result<(), LteError> {
        let name = || host.to_owned();
        let Some(network) = networks.get(self.network) else {
            let (host, network, networks) = (name(), self.network, networks.len());
            return Err(LteError::NoSuchNetwork { host, network, networks });
        };
        match (self.place, network.layout) {
            (Start::At { .. }, Layout::Hexagonal { .. }) => Err(LteError::DistanceInGrid(name())),
            (Start::Anywhere, Layout::Single) => Err(LteError::NoDistance(name())),
            _ => network.check(),
        }
    }
}

/// Why an LTE network or a terminal cannot exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LteError {
    /// A terminal names a network that is not in the list of networks.
    #[error("'{host}' is in LTE network {network}, of {networks}; name one of those")]
    NoSuchNetwork {
        /// The terminal's host.
        host: String,
        /// The index that the terminal names.
        network: usize,
        /// How many networks there are.
        networks: usize,
    },
    /// The terminal of this host has a distance, but there are several base stations.
    #[error(
        "'{0}': a distance from the base station, of which there are several; leave it out to place the terminal at random"
    )]
    DistanceInGrid(String),
    /// The terminal of this host has no distance, and a single cell has no edge.
    #[error(
        "'{0}': a single cell has no edge to place a terminal at random within; give a distance"
    )]
    NoDistance(String),
    /// A network is impossible.
    #[error("LTE network '{network}': {problem}")]
    Network {
        /// Its name.
        network: String,
        /// What is wrong.
        problem: LteProblem,
    },
}

/// Why a bearer cannot be established or released during a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BearerError {
    /// Only terminals of an LTE network have bearers.
    #[error("the host is on {0} and has no bearers; name a host with `lte`")]
    NotLte(crate::access::AccessKind),
    /// There is no such bearer.
    #[error("there is no bearer {0}; give the number that its establishment returned")]
    Unknown(usize),
    /// The bearer is impossible.
    #[error(transparent)]
    Problem(#[from] LteProblem),
}

/// What is wrong with an LTE network. A number without a name is the bearer's QCI.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LteProblem {
    /// The number of spatial layers is not modelled.
    #[error("{0} layers; write 1 or 2")]
    Layers(u8),
    /// The number of sectors is not modelled.
    #[error("{0} sectors per site; write 1 or 3")]
    Sectors(u8),
    /// The sites are too close to each other.
    #[error("sites {0} apart; write {nearest} or more", nearest = Layout::NEAREST)]
    SiteDistance(Metres),
    /// There are more HARQ retransmissions than 7.
    #[error("{0} retransmissions; write 0 to 7")]
    Retransmissions(u8),
    /// The period of scheduling requests is out of range.
    #[error("a scheduling request every {0}; write 1ms to 80ms")]
    SchedulingRequest(Duration),
    /// The window of the proportional fair scheduler is zero.
    #[error("the window of proportional fair is zero; write for example 1s")]
    NoWindow,
    /// The fading trace is malformed.
    #[error(
        "a fading trace without values, with rows of several lengths, or with several values per millisecond"
    )]
    FadingTrace,
    /// There is no bearer.
    #[error("no bearer; every terminal has a default bearer")]
    NoBearer,
    /// The default bearer has a guaranteed bit rate or a filter.
    #[error(
        "the default bearer takes the packets that no filter matches: QCI 5 to 9, and no filter"
    )]
    DefaultBearer,
    /// The QCI is out of range.
    #[error("QCI {0}; write 1 to 9")]
    Qci(u8),
    /// A bearer needs a guaranteed bit rate and has none.
    #[error("QCI {0} needs a guaranteed bit rate (23.203 table 6.1.7)")]
    GbrMissing(u8),
    /// A bearer has a guaranteed bit rate and must have none.
    #[error("QCI {0} has no guaranteed bit rate (23.203 table 6.1.7)")]
    GbrNotAllowed(u8),
    /// A dedicated bearer has no filter.
    #[error("no packet matches the bearer of QCI {0}; give it a filter")]
    NoFilter(u8),
    /// A bearer's queue limits the rate.
    #[error(
        "the queue of QCI {0} limits the rate, but the cell decides when a packet is sent; use a queue that only orders and drops"
    )]
    QueueShapes(u8),
    /// A bearer's queue has a limit in time.
    #[error(
        "the queue of QCI {0} has a limit in time, which needs a rate, and a cell has none; write packets or bytes"
    )]
    LimitInTime(u8),
    /// A bearer's queue cannot hold a packet of 1500 bytes.
    #[error("the buffer of QCI {0} holds no packet of 1500 bytes; make it larger")]
    SmallBuffer(u8),
}

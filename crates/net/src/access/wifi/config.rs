//! The configuration of a Wi-Fi cell.

use crate::queue::{FULL_PACKET, QueueConfig};
use units::{Bytes, Dbm, Decibels, Duration, Metres};

/// A cell of 802.11n at 2.4 GHz: an access point and its stations share one channel, on which each
/// receives every other.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WifiConfig {
    /// Its unique name; random streams are named after it.
    pub name: String,
    /// The channel, 1…13 (IEEE 802.11-2016 § 19.3.15: 2407 MHz + 5 MHz × channel).
    pub channel: u8,
    /// The width of the channel.
    pub width: ChannelWidth,
    /// The channel access.
    pub access: ChannelAccess,
    /// The aggregation of frames.
    pub aggregation: Aggregation,
    /// The number of transmissions before a frame is given up (dot11ShortRetryLimit, IEEE
    /// 802.11-2016 annex C). `None`: 7 with a fixed rate, as there; with Minstrel the length of its
    /// retry chain.
    pub retry_limit: Option<u8>,
    /// Whether frames are encrypted (WPA2, CCMP), with 16 bytes more each (IEEE 802.11-2016 §
    /// 12.5.3.2).
    pub ccmp: bool,
    /// The path loss.
    pub path_loss: PathLoss,
    /// The access point.
    pub ap: WifiDevice,
}

/// The window of a compressed block ACK, in frames (IEEE 802.11-2016 § 9.3.1.9.3).
const WINDOW: u8 = 64;

impl WifiConfig {
    /// Checks that such a cell can exist.
    pub(crate) fn check(&self) -> Result<(), WifiError> {
        let Aggregation { ampdu_frames, amsdu_bytes, .. } = self.aggregation;
        if !(1..=WINDOW).contains(&ampdu_frames) {
            return Err(WifiError::AmpduFrames { cell: self.name.clone(), frames: ampdu_frames });
        }
        if ampdu_frames > 1 && amsdu_bytes > Aggregation::AMSDU_IN_AMPDU {
            return Err(WifiError::AmsduInAmpdu { cell: self.name.clone(), bytes: amsdu_bytes });
        }
        self.ap.check(&self.name, self.ap.spatial_streams)
    }
}

/// Why a Wi-Fi cell or a station cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WifiError {
    /// A station names a cell that is not in the list of cells.
    #[error("'{host}' is in Wi-Fi cell {cell}, of {cells}; name one of those")]
    NoSuchCell {
        /// The station's host.
        host: String,
        /// The index that the station names.
        cell: usize,
        /// How many cells there are.
        cells: usize,
    },
    /// The number of frames in an A-MPDU is not within a compressed block ACK's window.
    #[error("cell '{cell}': {frames} frames in an A-MPDU; write 1 to {WINDOW}")]
    AmpduFrames {
        /// The cell.
        cell: String,
        /// The number of frames.
        frames: u8,
    },
    /// An A-MSDU is too long to be within an A-MPDU.
    #[error(
        "cell '{cell}': an A-MSDU of {bytes} in an A-MPDU; write {} or less",
        Aggregation::AMSDU_IN_AMPDU
    )]
    AmsduInAmpdu {
        /// The cell.
        cell: String,
        /// The A-MSDU's length.
        bytes: Bytes,
    },
    /// A device has a number of spatial streams that is not modelled.
    #[error("'{device}': {streams} spatial streams; write 1 or 2")]
    SpatialStreams {
        /// The device: a host or a cell.
        device: String,
        /// The number of spatial streams.
        streams: u8,
    },
    /// A fixed rate needs more spatial streams than both ends have.
    #[error("'{device}': MCS {mcs} has more spatial streams than both ends; write {most} or less")]
    Mcs {
        /// The device: a host or a cell.
        device: String,
        /// The modulation and coding scheme.
        mcs: u8,
        /// The highest one that both ends support.
        most: u8,
    },
    /// The driver of this device holds no packet.
    #[error("'{0}': a driver that holds no packet sends none; write 1 or more")]
    NoDriverBuffer(String),
    /// The queue of this device limits the rate.
    #[error(
        "'{0}': its queue limits the rate, but the channel decides when a packet is sent; use a queue that only orders and drops"
    )]
    QueueShapes(String),
}

impl WifiDevice {
    /// Checks that such a device can exist; `streams` are the spatial streams of the other end.
    pub(crate) fn check(&self, name: &str, streams: u8) -> Result<(), WifiError> {
        let device = || name.to_owned();
        if !(1..=2).contains(&self.spatial_streams) {
            let streams = self.spatial_streams;
            return Err(WifiError::SpatialStreams { device: device(), streams });
        }
        let most = 8 * self.spatial_streams.min(streams) - 1;
        match (self.rate, &self.buffer) {
            (RateControl::Fixed(mcs), _) if mcs > most => {
                Err(WifiError::Mcs { device: device(), mcs, most })
            }
            (_, Buffer::Shared { driver: 0, .. }) => Err(WifiError::NoDriverBuffer(device())),
            (_, buffer) if buffer.shapes() => Err(WifiError::QueueShapes(device())),
            _ => Ok(()),
        }
    }
}

impl Default for WifiConfig {
    fn default() -> Self {
        Self {
            name: "wifi".into(),
            // The last of the three that do not overlap (IEEE 802.11-2016 § 19.3.15).
            channel: 11,
            width: ChannelWidth::default(),
            access: ChannelAccess::default(),
            aggregation: Aggregation::default(),
            retry_limit: None,
            ccmp: true,
            path_loss: PathLoss::default(),
            ap: WifiDevice::default(),
        }
    }
}

/// The width of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ChannelWidth {
    /// 20 MHz.
    #[default]
    Mhz20,
    /// 40 MHz.
    Mhz40,
}

/// The guard interval between OFDM symbols (IEEE 802.11-2016 table 19-6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum GuardInterval {
    /// 800 ns.
    #[default]
    Long,
    /// 400 ns.
    Short,
}

/// The channel access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ChannelAccess {
    /// DCF: one queue per device, with equal channel access for all (IEEE 802.11-2016 § 10.3).
    #[default]
    Dcf,
    /// EDCA: four access categories by DSCP, each with its own channel access (IEEE 802.11-2016 §
    /// 10.22.2; WMM).
    Edca,
}

/// The aggregation of frames in one transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Aggregation {
    /// The most frames of an A-MPDU, 1…64 (the window of a compressed block ACK). 1: no
    /// aggregation, frames are acknowledged one by one.
    pub ampdu_frames: u8,
    /// The most bytes of an A-MPDU (HT: 65 535, IEEE 802.11-2016 § 9.4.2.56.3).
    pub ampdu_bytes: Bytes,
    /// The longest duration of an A-MPDU (Linux ath9k: 4 ms; HT: [`Self::LONGEST`]).
    pub ampdu_duration: Duration,
    /// The most bytes of an A-MSDU (HT: 3839 or 7935); zero: no A-MSDUs.
    pub amsdu_bytes: Bytes,
}

impl Aggregation {
    /// The longest A-MSDU in an A-MPDU, where an MPDU has at most 4095 bytes with header, frame
    /// check sequence and CCMP (IEEE 802.11-2016 § 9.7.1).
    pub const AMSDU_IN_AMPDU: Bytes = Bytes::new(4_095 - 26 - 4 - 16);
    /// The longest HT-mixed PPDU that its legacy header can express: 4095 bytes at 6 Mbit/s
    /// (aPPDUMaxTime, IEEE 802.11-2016 table 19-25).
    pub const LONGEST: Duration = Duration::from_micros(5_484);
}

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            ampdu_frames: 64,
            ampdu_bytes: Bytes::new(65_535),
            ampdu_duration: Duration::from_millis(4),
            amsdu_bytes: Bytes::ZERO,
        }
    }
}

/// Log-distance path loss: free space up to one metre, then 10 × exponent × log₁₀(distance), and a
/// loss per wall (Rappaport 2002 § 4.9.1, § 4.11.5).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PathLoss {
    /// The exponent: 2 in free space, 3 to 4 indoors.
    pub exponent: f64,
    /// The loss per wall.
    pub wall: Decibels,
}

impl Default for PathLoss {
    fn default() -> Self {
        Self { exponent: 3.0, wall: Decibels::new(5) }
    }
}

/// The properties that access points and stations share.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WifiDevice {
    /// The transmit power.
    pub tx_power: Dbm,
    /// Noise and interference at its receiver over the whole width of the channel, with noise
    /// figure and implementation losses.
    pub noise: Dbm,
    /// The most spatial streams that it can transmit and receive, 1 or 2.
    pub spatial_streams: u8,
    /// The guard interval of its transmissions.
    pub guard_interval: GuardInterval,
    /// Its rate control.
    pub rate: RateControl,
    /// Its buffer.
    pub buffer: Buffer,
    /// The time after which the MAC drops a packet that was not received, counted from its entry to
    /// the driver, or to a queue per station (IEEE 802.11-2016 § 10.22.2.11, `MSDU lifetime`; annex
    /// C, dot11EDCATableMSDULifetime, 500 TU unless set). It applies when a frame is first sent and
    /// after each failed transmission. `None`: no limit, as in Linux' mac80211.
    pub msdu_lifetime: Option<Duration>,
}

impl Default for WifiDevice {
    fn default() -> Self {
        Self {
            tx_power: Dbm::new(20),
            noise: Dbm::new(-90),
            spatial_streams: 2,
            guard_interval: GuardInterval::Long,
            rate: RateControl::Minstrel,
            buffer: Buffer::default(),
            msdu_lifetime: None,
        }
    }
}

/// The rate control of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum RateControl {
    /// Minstrel, by delivery statistics (Linux `minstrel_ht`).
    #[default]
    Minstrel,
    /// A fixed modulation and coding scheme, 0…15.
    Fixed(u8),
}

/// The buffer of a device.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Buffer {
    /// One queue for all receivers (with EDCA one per category), followed by the driver's buffer.
    Shared {
        /// The discipline of the queue.
        queue: QueueConfig,
        /// The most packets in the driver's buffer.
        driver: u32,
        /// The order in which the driver serves the receivers.
        order: DriverOrder,
    },
    /// One queue per receiver; the receivers get equal airtime (Høiland-Jørgensen et al. 2017, §
    /// 3.2).
    PerStation {
        /// The discipline of each queue.
        queue: QueueConfig,
    },
}

/// The order in which a driver serves the receivers of its packets. A station has one receiver, its
/// access point, so that only an access point's order matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum DriverOrder {
    /// A list of packets per receiver, served round-robin, as Linux drivers that aggregate did
    /// before mac80211 had queues (`drivers/net/wireless/ath/ath9k/xmit.c` of Linux 4.8,
    /// `ath_txq_schedule`). With the queues of mac80211: [`Buffer::PerStation`].
    #[default]
    RoundRobin,
    /// One list for all receivers, in order of arrival: the oldest packet determines the receiver,
    /// whose other packets join it if frames are aggregated.
    Fifo,
}

impl Buffer {
    /// Whether its discipline is a shaper, which a Wi-Fi device cannot have.
    #[must_use]
    pub fn shapes(&self) -> bool {
        self.queue().shapes()
    }

    /// The most bytes that can wait in the queue and in the driver's buffer behind it, packets of
    /// the driver counted as 1500 bytes; `None` if the queue has no limit.
    #[must_use]
    pub fn limit(&self) -> Option<Bytes> {
        let queue = self.queue().buffer(None)?;
        match self {
            Self::Shared { driver, .. } => Some(queue + FULL_PACKET * u64::from(*driver)),
            Self::PerStation { .. } => Some(queue),
        }
    }

    /// The discipline of its queue, or of each.
    #[must_use]
    pub fn queue(&self) -> &QueueConfig {
        let (Self::Shared { queue, .. } | Self::PerStation { queue }) = self;
        queue
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::Shared {
            queue: QueueConfig::Pfifo(1_000),
            driver: 128,
            order: DriverOrder::default(),
        }
    }
}

/// A station of a cell.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WifiStation {
    /// Its cell, as an index into the list of cells.
    pub cell: usize,
    /// The distance to the access point.
    pub distance: Metres,
    /// The number of walls in between.
    pub walls: u8,
    /// Slow changes of the signal, by obstacles.
    pub shadowing: Fading,
    /// Fast changes of the signal, by multipath propagation.
    pub fading: Fading,
    /// The device.
    pub device: WifiDevice,
}

impl WifiStation {
    /// Checks that the station of this host can exist in its cell, and that the cell can.
    pub(crate) fn check(&self, host: &str, cells: &[WifiConfig]) -> Result<(), WifiError> {
        let Some(cell) = cells.get(self.cell) else {
            let (host, cell, cells) = (host.to_owned(), self.cell, cells.len());
            return Err(WifiError::NoSuchCell { host, cell, cells });
        };
        self.device.check(host, cell.ap.spatial_streams)?;
        cell.check()
    }
}

impl Default for WifiStation {
    /// In the first cell, in the same room.
    fn default() -> Self {
        Self {
            cell: 0,
            distance: Metres::new(3),
            walls: 0,
            shadowing: Fading::NONE,
            fading: Fading::NONE,
            device: WifiDevice::default(),
        }
    }
}

/// Changes of a signal around its mean: normally distributed in decibels, with an exponential
/// autocorrelation in time (Gudmundson 1991, equation 2, applied to time).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fading {
    /// The standard deviation; zero: no changes.
    pub deviation: Decibels,
    /// The time after which the autocorrelation is 1/e.
    pub coherence: Duration,
}

impl Fading {
    /// No changes.
    pub const NONE: Self = Self { deviation: Decibels::ZERO, coherence: Duration::from_secs(1) };
}

//! The physical layer of 802.11n (HT) at 2.4 GHz: rates and durations.
//!
//! Sections and tables are those of IEEE 802.11-2016. All data PPDUs are HT-mixed with
//! convolutional coding. Control frames are non-HT (ERP-OFDM), so that every device of the cell can
//! decode them.

use super::{ChannelWidth, GuardInterval};
use units::{Bitrate, Bytes, Duration};

/// aSlotTime with the short slot, used in cells without 802.11b (§ 18.5.4, table 19-25).
pub(super) const SLOT: Duration = Duration::from_micros(9);

/// aSIFSTime at 2.4 GHz (§ 18.5.4, table 19-25).
pub(super) const SIFS: Duration = Duration::from_micros(10);

/// The DCF interframe space: SIFS and two slots (§ 10.3.7).
pub(super) const DIFS: Duration = Duration::from_micros(SIFS.as_micros() + 2 * SLOT.as_micros());

/// aSignalExtension at 2.4 GHz: silence after an OFDM PPDU, so that a receiver has the same 16 µs
/// as at 5 GHz (§ 18.3.2.4, table 19-25).
const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

/// aRxPHYStartDelay of a non-HT OFDM PPDU: the time after which a receiver detects its start (§
/// 18.5.4).
const RX_PHY_START_DELAY: Duration = Duration::from_micros(20);

/// ACKTimeout: the time that a sender waits for the start of an acknowledgement (§ 10.3.2.9).
pub(super) const ACK_TIMEOUT: Duration =
    Duration::from_micros(SIFS.as_micros() + SLOT.as_micros() + RX_PHY_START_DELAY.as_micros());

/// The size of an ACK frame (§ 9.3.1.4).
pub(super) const ACK_SIZE: Bytes = Bytes::new(14);

/// The size of a compressed block ACK frame (§ 9.3.1.9.3: a bitmap of 8 bytes).
pub(super) const BLOCK_ACK_SIZE: Bytes = Bytes::new(32);

/// SERVICE and tail bits around a PSDU (§ 17.3.5, § 19.3.11; there is one encoder, N_ES = 1, up to
/// 300 Mbit/s, tables 19-27 to 19-32).
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;

/// N_DBPS, the data bits per symbol, of one stream at 20 MHz, for MCS 0…7 (table 19-27).
const DATA_BITS_20_MHZ: [u64; 8] = [26, 52, 78, 104, 156, 208, 234, 260];

/// The same at 40 MHz (table 19-31).
const DATA_BITS_40_MHZ: [u64; 8] = [54, 108, 162, 216, 324, 432, 486, 540];

/// An HT modulation and coding scheme with equal modulation: 0…7 have one spatial stream, 8…15 two
/// (tables 19-27 to 19-32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Mcs(u8);

impl Mcs {
    /// The number of schemes.
    pub(crate) const COUNT: usize = 16;

    /// The number of schemes per number of streams.
    pub(crate) const PER_STREAM: usize = 8;

    /// The scheme with this index, 0…15; a larger index becomes 15.
    pub(crate) const fn new(index: u8) -> Self {
        Self(if index > 15 { 15 } else { index })
    }

    /// Its index, 0…15.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number of spatial streams, 1 or 2.
    pub(crate) const fn streams(self) -> u8 {
        self.0 / 8 + 1
    }

    /// The modulation and code rate, 0…7, independent of the number of streams.
    pub(crate) const fn modulation(self) -> usize {
        (self.0 % 8) as usize
    }
}

/// The rate of a control frame: the mandatory rates of OFDM (§ 17.1.1), which are the basic rates
/// of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlRate {
    /// BPSK, code 1/2.
    Mbps6,
    /// QPSK, code 1/2.
    Mbps12,
    /// 16-QAM, code 1/2.
    Mbps24,
}

impl ControlRate {
    /// N_DBPS (table 17-4).
    const fn data_bits(self) -> u64 {
        match self {
            Self::Mbps6 => 24,
            Self::Mbps12 => 48,
            Self::Mbps24 => 96,
        }
    }
}

/// The rate of the acknowledgement of a frame sent with `mcs`: the highest basic rate not above its
/// non-HT reference rate (§ 10.7.6.5), which is 6 Mbit/s for BPSK, 12 and 18 for QPSK, and 24 to 54
/// for the others (table 10-7).
pub(super) const fn control_rate_for(mcs: Mcs) -> ControlRate {
    match mcs.modulation() {
        0 => ControlRate::Mbps6,
        1 | 2 => ControlRate::Mbps12,
        _ => ControlRate::Mbps24,
    }
}

/// EIFS, the wait after a frame that could not be decoded: SIFS, DIFS and an ACK at the lowest
/// mandatory rate (§ 10.3.7), which is that of OFDM in a cell without 802.11b.
pub(super) const EIFS: Duration = Duration::from_micros(
    SIFS.as_micros()
        + DIFS.as_micros()
        + Phy::control_duration(ACK_SIZE, ControlRate::Mbps6).as_micros(),
);

/// The physical layer on a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phy {
    /// The width of the channel, and of every data PPDU.
    pub(super) width: ChannelWidth,
}

impl Phy {
    /// The duration of a control frame, from the start of its preamble to the end of its signal
    /// extension (§ 17.4.3, § 18.5.3.2); independent of the channel width.
    pub(super) const fn control_duration(size: Bytes, rate: ControlRate) -> Duration {
        // Preamble 16 µs, SIGNAL 4 µs, symbols of 4 µs (table 17-5).
        let symbols = (size.bits() + SERVICE_AND_TAIL_BITS).div_ceil(rate.data_bits());
        Duration::from_micros(16 + 4 + 4 * symbols + SIGNAL_EXTENSION.as_micros())
    }

    /// N_DBPS: the data bits per symbol (tables 19-27, 19-28, 19-31 and 19-32).
    fn data_bits(self, mcs: Mcs) -> u64 {
        let one = match self.width {
            ChannelWidth::Mhz20 => DATA_BITS_20_MHZ,
            ChannelWidth::Mhz40 => DATA_BITS_40_MHZ,
        };
        one[mcs.modulation()] * u64::from(mcs.streams())
    }

    /// The data rate of a scheme, rounded to bit/s.
    pub(super) fn bitrate(self, mcs: Mcs, guard: GuardInterval) -> Bitrate {
        let per_second = self.data_bits(mcs) * 1_000_000_000;
        let symbol = symbol(guard).as_nanos();
        Bitrate::from_bps((per_second + symbol / 2) / symbol)
    }

    /// The duration of the symbols of a PSDU, without preamble (§ 19.4.3).
    pub(super) fn symbols(self, mcs: Mcs, guard: GuardInterval, psdu: Bytes) -> Duration {
        let symbols = (psdu.bits() + SERVICE_AND_TAIL_BITS).div_ceil(self.data_bits(mcs));
        let data = symbol(guard) * symbols;
        // With the short guard interval, the end is rounded up to a multiple of the long symbol.
        Duration::from_nanos(data.as_nanos().next_multiple_of(LONG_SYMBOL.as_nanos()))
    }

    /// The duration of a PPDU with this PSDU, from the start of its preamble to the end of its
    /// signal extension (§ 19.4.3).
    pub(super) fn data_duration(self, mcs: Mcs, guard: GuardInterval, psdu: Bytes) -> Duration {
        // L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, and an HT-LTF of 4 per stream (table 19-6,
        // table 19-13).
        let preamble = Duration::from_micros(8 + 8 + 4 + 8 + 4 + 4 * u64::from(mcs.streams()));
        preamble + self.symbols(mcs, guard, psdu) + SIGNAL_EXTENSION
    }
}

/// T_SYM: a symbol with the long guard interval (table 19-6).
const LONG_SYMBOL: Duration = Duration::from_nanos(4_000);

/// T_SYMS: a symbol with the short guard interval (table 19-6).
const SHORT_SYMBOL: Duration = Duration::from_nanos(3_600);

const fn symbol(guard: GuardInterval) -> Duration {
    match guard {
        GuardInterval::Long => LONG_SYMBOL,
        GuardInterval::Short => SHORT_SYMBOL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GuardInterval::{Long, Short};

    const NARROW: Phy = Phy { width: ChannelWidth::Mhz20 };
    const WIDE: Phy = Phy { width: ChannelWidth::Mhz40 };

    fn kbps(phy: Phy, mcs: u8, guard: GuardInterval) -> u64 {
        phy.bitrate(Mcs::new(mcs), guard).as_bps() / 1_000
    }

    #[test]
    fn rates_equal_those_of_the_tables() {
        let long = [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000];
        let short = [7_222, 14_444, 21_666, 28_888, 43_333, 57_777, 65_000, 72_222];
        for mcs in 0..8 {
            assert_eq!(kbps(NARROW, mcs, Long), long[usize::from(mcs)]);
            assert_eq!(kbps(NARROW, mcs + 8, Long), 2 * long[usize::from(mcs)]);
            assert_eq!(kbps(NARROW, mcs, Short), short[usize::from(mcs)]);
        }
        assert_eq!(NARROW.bitrate(Mcs::new(15), Long), Bitrate::from_mbps(130));
        assert_eq!(NARROW.bitrate(Mcs::new(15), Short), Bitrate::from_bps(144_444_444));
        assert_eq!(kbps(WIDE, 0, Long), 13_500);
        assert_eq!(WIDE.bitrate(Mcs::new(15), Long), Bitrate::from_mbps(270));
        assert_eq!(WIDE.bitrate(Mcs::new(15), Short), Bitrate::from_mbps(300));
    }

    #[test]
    fn durations_of_control_frames_equal_those_of_the_standard() {
        let micros = |size, rate| Phy::control_duration(size, rate).as_micros();
        assert_eq!(micros(ACK_SIZE, ControlRate::Mbps6), 50);
        assert_eq!(micros(ACK_SIZE, ControlRate::Mbps12), 38);
        assert_eq!(micros(ACK_SIZE, ControlRate::Mbps24), 34);
        assert_eq!(micros(BLOCK_ACK_SIZE, ControlRate::Mbps6), 74);
        assert_eq!(micros(BLOCK_ACK_SIZE, ControlRate::Mbps24), 38);
        assert_eq!((DIFS.as_micros(), ACK_TIMEOUT.as_micros(), EIFS.as_micros()), (28, 39, 88));
    }

    #[test]
    fn durations_of_data_frames_equal_those_of_the_standard() {
        // 1500 bytes at 65 Mbit/s: ⌈12 022 / 260⌉ = 47 symbols after a preamble of 36 µs.
        let micros = |mcs, guard, size| {
            NARROW.data_duration(Mcs::new(mcs), guard, Bytes::new(size)).as_micros()
        };
        assert_eq!(micros(7, Long, 1_500), 36 + 47 * 4 + 6);
        // 47 × 3.6 = 169.2 µs, rounded up to 172.
        assert_eq!(micros(7, Short, 1_500), 36 + 172 + 6);
        assert_eq!(micros(15, Long, 1_500), 40 + 24 * 4 + 6);
        assert_eq!(micros(0, Long, 0), 36 + 4 + 6);
        let wide = WIDE.data_duration(Mcs::new(15), Short, Bytes::new(65_535));
        // ⌈524 302 / 1080⌉ = 486 symbols, 1749.6 µs, rounded up to 1752.
        assert_eq!(wide.as_micros(), 40 + 1_752 + 6);
    }

    #[test]
    fn acknowledgements_use_basic_rates_not_above_the_reference_rate() {
        let rates: Vec<ControlRate> = (0..8).map(|mcs| control_rate_for(Mcs::new(mcs))).collect();
        use ControlRate::{Mbps6, Mbps12, Mbps24};
        assert_eq!(rates, [Mbps6, Mbps12, Mbps12, Mbps24, Mbps24, Mbps24, Mbps24, Mbps24]);
        for mcs in 0..8 {
            assert_eq!(control_rate_for(Mcs::new(mcs + 8)), rates[usize::from(mcs)]);
        }
    }

    #[test]
    fn the_number_of_streams_follows_from_the_index() {
        assert_eq!((Mcs::new(7).streams(), Mcs::new(8).streams()), (1, 2));
        assert_eq!((Mcs::new(13).modulation(), Mcs::new(13).index()), (5, 13));
        assert_eq!(Mcs::new(99), Mcs::new(15));
    }
}

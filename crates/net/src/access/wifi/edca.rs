//! Access categories: the mapping from DSCP, and the parameters of channel access.

use super::config::ChannelAccess;
use super::phy;
use crate::packet::Dscp;
use units::Duration;

/// An access category (IEEE 802.11-2016 table 10-1), in ascending order of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccessCategory {
    Background,
    BestEffort,
    Video,
    Voice,
}

impl AccessCategory {
    /// The category of a code point (RFC 8325 § 4.3, figure 1; lower effort, RFC 8622 § 6, is
    /// background).
    pub(super) fn of(dscp: Dscp) -> Self {
        match dscp.0 {
            // CS6, CS7; EF, VOICE-ADMIT.
            48 | 56 | 46 | 44 => Self::Voice,
            // CS5; AF4x, CS4; AF3x, CS3.
            40 | 34 | 36 | 38 | 32 | 26 | 28 | 30 | 24 => Self::Video,
            // CS1, LE.
            8 | 1 => Self::Background,
            _ => Self::BestEffort,
        }
    }
}

/// The channel access parameters of a device or an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessParameters {
    /// The time for which the channel must have been idle: DIFS or AIFS\[AC\].
    pub(super) aifs: Duration,
    /// The contention window after a success.
    pub(super) cw_min: u32,
    /// The largest contention window.
    pub(super) cw_max: u32,
    /// The longest transmit opportunity; zero: a single transmission.
    pub(super) txop_limit: Duration,
    /// Whether the backoff counts the slot in which the channel becomes busy.
    pub(super) counts_busy_slot: bool,
}

/// aCWmin and aCWmax of OFDM (IEEE 802.11-2016 table 19-25).
const CW: (u32, u32) = (15, 1023);

impl AccessParameters {
    const fn edca(aifsn: u64, cw: (u32, u32), txop_limit: Duration) -> Self {
        let aifs = Duration::from_nanos(phy::SIFS.as_nanos() + aifsn * phy::SLOT.as_nanos());
        Self { aifs, cw_min: cw.0, cw_max: cw.1, txop_limit, counts_busy_slot: true }
    }

    /// The parameters of each contender of a device, in ascending order of priority.
    pub(super) fn of(access: ChannelAccess, access_point: bool) -> Vec<Self> {
        let dcf = Self {
            aifs: phy::DIFS,
            cw_min: CW.0,
            cw_max: CW.1,
            txop_limit: Duration::ZERO,
            counts_busy_slot: false,
        };
        let (video, voice) = (Duration::from_micros(3_008), Duration::from_micros(1_504));
        match (access, access_point) {
            (ChannelAccess::Dcf, _) => vec![dcf],
            // The parameters that stations receive (IEEE 802.11-2016 table 9-137; hostapd.conf,
            // wmm_ac_*).
            (ChannelAccess::Edca, false) => vec![
                Self::edca(7, CW, Duration::ZERO),
                Self::edca(3, CW, Duration::ZERO),
                Self::edca(2, (7, 15), video),
                Self::edca(2, (3, 7), voice),
            ],
            // The access point's own parameters (hostapd.conf, tx_queue_data*).
            (ChannelAccess::Edca, true) => vec![
                Self::edca(7, CW, Duration::ZERO),
                Self::edca(3, (15, 63), Duration::ZERO),
                Self::edca(1, (7, 15), Duration::from_micros(3_000)),
                Self::edca(1, (3, 7), Duration::from_micros(1_500)),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_the_categories_of_rfc_8325() {
        let of = |name: &str| AccessCategory::of(Dscp::named(name).unwrap());
        assert_eq!(["ef", "va", "cs6"].map(of), [AccessCategory::Voice; 3]);
        assert_eq!(
            ["af41", "af43", "cs4", "af31", "cs3", "cs5"].map(of),
            [AccessCategory::Video; 6]
        );
        assert_eq!(["be", "cs2", "af21", "af11"].map(of), [AccessCategory::BestEffort; 4]);
        assert_eq!(["cs1", "le"].map(of), [AccessCategory::Background; 2]);
    }

    #[test]
    fn dcf_has_one_contender_and_edca_four() {
        for access_point in [false, true] {
            assert_eq!(AccessParameters::of(ChannelAccess::Dcf, access_point).len(), 1);
            let four = AccessParameters::of(ChannelAccess::Edca, access_point);
            assert_eq!(four.len(), AccessCategory::Voice as usize + 1);
            assert!(four.is_sorted_by_key(|each| std::cmp::Reverse((each.aifs, each.cw_min))));
        }
        let station = AccessParameters::of(ChannelAccess::Edca, false);
        assert_eq!(station[1].aifs, Duration::from_micros(10 + 3 * 9));
    }
}

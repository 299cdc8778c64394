//! The radio path between a station and its access point.

use super::fade::Fade;
use super::{PathLoss, WifiConfig, WifiStation};
use units::{Metres, Seed, Time};

/// The speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

/// The path between a station and its access point; the same in both directions (reciprocity).
pub(super) struct Radio {
    /// The mean gain in decibels; negative.
    mean: f64,
    shadowing: Option<Fade>,
    fading: Option<Fade>,
}

impl Radio {
    /// The path of `station` in `cell`; its random streams are `{name}.shadowing` and
    /// `{name}.fading`.
    pub(super) fn new(cell: &WifiConfig, station: &WifiStation, seed: Seed, name: &str) -> Self {
        Self {
            mean: -loss(cell.channel, cell.path_loss, station.distance, station.walls),
            shadowing: Fade::new(station.shadowing, seed, &format!("{name}.shadowing")),
            fading: Fade::new(station.fading, seed, &format!("{name}.fading")),
        }
    }

    /// The gain of the path in decibels: the received power is the transmitted power plus this.
    /// `now` must not decrease between calls.
    pub(super) fn gain(&mut self, now: Time) -> f64 {
        let change = |fade: &mut Option<Fade>| fade.as_mut().map_or(0.0, |fade| fade.at(now));
        self.mean + change(&mut self.shadowing) + change(&mut self.fading)
    }
}

/// The loss of a path in decibels (Rappaport 2002 § 4.9.1, § 4.11.5): that of free space at one
/// metre, 20 log₁₀(4π f / c) (Friis 1946), then 10 × exponent × log₁₀(distance) and the walls.
/// Distances below a metre count as a metre.
fn loss(channel: u8, path_loss: PathLoss, distance: Metres, walls: u8) -> f64 {
    // IEEE 802.11-2016 § 19.3.15: the centre of the channel; for 40 MHz, that of the primary half.
    let frequency = (2_407.0 + 5.0 * f64::from(channel)) * 1e6;
    let at_a_metre = 20.0 * libm::log10(4.0 * std::f64::consts::PI * frequency / LIGHT);
    let spread = 10.0 * path_loss.exponent * libm::log10(distance.as_f64().max(1.0));
    at_a_metre + spread + path_loss.wall.as_f64() * f64::from(walls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::wifi::{Aggregation, ChannelAccess, ChannelWidth, Fading, WifiDevice};
    use units::{Decibels, Duration};

    fn cell() -> WifiConfig {
        WifiConfig {
            name: "cell".into(),
            channel: 11,
            width: ChannelWidth::Mhz20,
            access: ChannelAccess::Dcf,
            aggregation: Aggregation::default(),
            retry_limit: None,
            ccmp: true,
            path_loss: PathLoss::default(),
            ap: WifiDevice::default(),
        }
    }

    fn station(distance: &str, walls: u8, deviation: i16) -> WifiStation {
        let fading = |millis| Fading {
            deviation: Decibels::new(deviation),
            coherence: Duration::from_millis(millis),
        };
        WifiStation {
            cell: 0,
            distance: distance.parse().unwrap(),
            walls,
            shadowing: fading(2_000),
            fading: fading(50),
            device: WifiDevice::default(),
        }
    }

    fn signal(distance: &str, walls: u8) -> f64 {
        let mut radio = Radio::new(&cell(), &station(distance, walls, 0), Seed(1), "alice");
        WifiDevice::default().tx_power.as_f64() + radio.gain(Time::from_secs(3))
    }

    #[test]
    fn the_first_metre_of_free_space_costs_forty_decibels() {
        let at_a_metre = signal("1m", 0);
        assert!((at_a_metre - (20.0 - 40.27)).abs() < 0.01, "{at_a_metre}");
        assert_eq!(signal("20mm", 0), at_a_metre);
    }

    #[test]
    fn signals_follow_distance_and_walls() {
        // 30 dB per decade and 5 dB per wall.
        assert!((signal("5.3m", 0) + 42.0).abs() < 0.01, "{}", signal("5.3m", 0));
        assert!((signal("10m", 0) - signal("1m", 0) + 30.0).abs() < 1e-9);
        assert!((signal("10m", 2) - signal("10m", 0) + 10.0).abs() < 1e-9);
    }

    #[test]
    fn shadowing_and_fading_add_up_and_are_independent() {
        let gains = |shadowing: bool, fading: bool| -> Vec<f64> {
            let mut station = station("10m", 1, 3);
            if !shadowing {
                station.shadowing = Fading::NONE;
            }
            if !fading {
                station.fading = Fading::NONE;
            }
            let mut radio = Radio::new(&cell(), &station, Seed(5), "alice");
            (0..500).map(|k| radio.gain(Time::from_millis(20 * k))).collect()
        };
        let (mean, both) = (gains(false, false)[0], gains(true, true));
        for ((slow, fast), both) in gains(true, false).iter().zip(gains(false, true)).zip(both) {
            assert!(((slow - mean) + (fast - mean) - (both - mean)).abs() < 1e-9);
            assert_ne!(*slow, fast);
        }
    }

    #[test]
    fn each_station_has_its_own_path() {
        let first =
            |name: &str| Radio::new(&cell(), &station("10m", 0, 3), Seed(5), name).gain(Time::ZERO);
        assert_eq!(first("alice"), first("alice"));
        assert_ne!(first("alice"), first("bob"));
    }
}

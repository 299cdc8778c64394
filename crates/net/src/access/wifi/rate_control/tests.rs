use super::table::Table;
use super::*;
use crate::access::wifi::ChannelWidth;
use crate::access::wifi::error_rate::{bit_success_log, success};
use crate::access::wifi::phy::{BLOCK_ACK_SIZE, DIFS, SIFS, SLOT, control_rate_for};
use units::{Bytes, Duration, Seed};

const PHY: Phy = Phy { width: ChannelWidth::Mhz20 };
const GUARD: GuardInterval = GuardInterval::Long;
const FRAME: Bytes = Bytes::new(1_500);

fn controller(config: RateControl, streams: u8, seed: u64) -> RateController {
    RateController::new(config, PHY, streams, GUARD, Seed(seed).stream("rate"))
}

/// A sender that always has frames for its receiver, alone in its cell.
struct Link {
    rates: RateController,
    now: Time,
    random: Stream,
    /// The rates that were used.
    used: Vec<Mcs>,
}

impl Link {
    fn new(streams: u8, seed: u64) -> Self {
        let rates = controller(RateControl::Minstrel, streams, seed);
        Self { rates, now: Time::ZERO, random: Seed(seed).stream("air"), used: Vec::new() }
    }

    /// Sends A-MPDUs of `length` frames for some seconds through a channel of this signal-to-noise
    /// ratio; returns the throughput in bit/s.
    fn run(&mut self, seconds: u64, length: u32, snr_db: impl Fn(Time) -> f64) -> f64 {
        let (start, mut delivered) = (self.now, 0);
        let (mut failures, mut sampled) = (0, false);
        while self.now < start + Duration::from_secs(seconds) {
            let choice = if failures > 0 {
                self.rates.retry(failures, sampled)
            } else {
                self.rates.choose()
            };
            if failures == 0 {
                sampled = choice.sample;
            }
            let frames = if choice.sample { 1 } else { length };
            let each =
                libm::exp(FRAME.bits() as f64 * bit_success_log(snr_db(self.now), choice.mcs));
            let arrived = (0..frames).filter(|_| self.random.chance(each)).count() as u32;
            self.now +=
                DIFS + SLOT * 7 + PHY.data_duration(choice.mcs, GUARD, FRAME * u64::from(frames));
            self.now += SIFS + Phy::control_duration(BLOCK_ACK_SIZE, control_rate_for(choice.mcs));
            self.rates.report(self.now, choice, frames, arrived);
            self.used.push(choice.mcs);
            delivered += u64::from(arrived);
            failures =
                if arrived > 0 || failures + 1 >= self.rates.attempts() { 0 } else { failures + 1 };
        }
        (FRAME * delivered).bits() as f64 / seconds as f64
    }
}

/// The rate and the throughput of the best fixed choice for such a sender.
fn ideal(streams: u8, length: u32, snr_db: f64) -> (Mcs, f64) {
    let throughput = |mcs: Mcs| {
        let time = DIFS
            + SLOT * 7
            + SIFS
            + Phy::control_duration(BLOCK_ACK_SIZE, control_rate_for(mcs))
            + PHY.data_duration(mcs, GUARD, FRAME * u64::from(length));
        success(snr_db, mcs, FRAME) * (FRAME * u64::from(length)).bits() as f64 / time.as_secs_f64()
    };
    let all = (0..8 * streams).map(|index| (Mcs::new(index), throughput(Mcs::new(index))));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

#[test]
fn a_fixed_rate_does_not_change() {
    let mut rates = controller(RateControl::Fixed(12), 2, 1);
    let choice = rates.choose();
    assert_eq!(choice, Choice { mcs: Mcs::new(12), sample: false });
    rates.report(Time::from_secs(1), choice, 20, 0);
    assert_eq!(rates.retry(7, false).mcs, Mcs::new(12));
}

#[test]
fn the_first_rate_is_the_lowest() {
    let rates = controller(RateControl::Minstrel, 2, 1);
    assert_eq!(rates.best(), Mcs::new(0));
}

#[test]
fn the_best_rate_of_a_constant_channel_is_found() {
    for streams in [1, 2] {
        for length in [1, 16] {
            for snr_db in [6, 12, 18, 22, 26, 30, 48] {
                let snr_db = f64::from(snr_db);
                let mut link = Link::new(streams, 3);
                link.run(5, length, |_| snr_db);
                let reached = link.run(10, length, |_| snr_db);
                let (best, ideal) = ideal(streams, length, snr_db);
                assert!(
                    reached > 0.85 * ideal && reached < 1.01 * ideal,
                    "{streams} streams, {length} frames, {snr_db} dB: {reached} of {ideal} with {best:?}"
                );
            }
        }
    }
}

#[test]
fn the_best_rate_is_reached_within_a_second() {
    let mut link = Link::new(2, 5);
    link.run(1, 16, |_| 45.0);
    assert_eq!(link.rates.best(), Mcs::new(15));
}

#[test]
fn the_rate_follows_a_channel_down_and_up() {
    let mut link = Link::new(2, 9);
    link.run(5, 16, |_| 45.0);
    for snr_db in [12.0, 45.0, 6.0, 24.0] {
        // Two seconds to adapt.
        link.run(2, 16, |_| snr_db);
        let (reached, (_, ideal)) = (link.run(3, 16, |_| snr_db), ideal(2, 16, snr_db));
        assert!(reached > 0.85 * ideal, "{snr_db} dB: {reached} of {ideal}");
    }
}

#[test]
fn a_suddenly_failing_rate_of_two_streams_is_left_before_the_update() {
    let after = |attempted, succeeded| {
        let mut table = Table::new(PHY, 2, GUARD);
        (0..16).for_each(|index| table.count(Mcs::new(index), 10, 10));
        table.update();
        assert_eq!((table.best, table.most_reliable), ([Mcs::new(15), Mcs::new(14)], Mcs::new(7)));
        table.count(Mcs::new(15), attempted, succeeded);
        table.downgrade();
        table.best
    };
    assert_eq!(after(31, 6), [Mcs::new(7), Mcs::new(14)]);
    assert_eq!(after(31, 7), [Mcs::new(15), Mcs::new(14)]);
    assert_eq!(after(30, 0), [Mcs::new(15), Mcs::new(14)]);
}

#[test]
fn retries_follow_the_retry_chain() {
    let mut link = Link::new(2, 2);
    link.run(5, 16, |_| 22.0);
    let chain: Vec<Mcs> = (1..20).map(|failures| link.rates.retry(failures, false).mcs).collect();
    assert_eq!(*chain.last().unwrap(), Mcs::new(0));
    let mut changes = chain.clone();
    changes.dedup();
    assert!((2..=4).contains(&changes.len()), "{chain:?}");
    // At least two transmissions per rate, of which the first has been made.
    assert_eq!(chain[0], link.rates.best());
}

#[test]
fn sampling_is_rare_and_stops_when_all_rates_are_reliable() {
    let share = |snr_db: f64| {
        let mut link = Link::new(2, 4);
        link.run(5, 16, |_| snr_db);
        let best = PHY.bitrate(link.rates.best(), GUARD);
        let start = link.used.len();
        link.run(5, 16, |_| snr_db);
        let other =
            link.used[start..].iter().filter(|mcs| PHY.bitrate(**mcs, GUARD) != best).count();
        other as f64 / (link.used.len() - start) as f64
    };
    // Between two samples there are 16 + 2 × 15 packets, which are three PPDUs of 16.
    let some = share(26.0);
    assert!(some > 0.05 && some < 0.25, "{some}");
    assert_eq!(share(45.0), 0.0);
}

#[test]
fn the_same_draws_give_the_same_rates() {
    let used = |seed| {
        let mut link = Link::new(2, seed);
        link.run(2, 8, |now| 15.0 + now.as_secs_f64() * 5.0);
        link.used
    };
    assert_eq!(used(1), used(1));
    assert_ne!(used(1), used(2));
}

//! The medium access of a Wi-Fi cell against known results: Bianchi's model, equal channel access,
//! and the arithmetic of airtime.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use net::ChannelAccess;
use net::{
    AccessConfig, Aggregation, Buffer, Direction, DriverOrder, DropReason, Dropped, Dscp, Events,
    Flow, HostConfig, HostId, LineConfig, LinkId, Network, NetworkConfig, Packet, QueueConfig,
    RateControl, WifiConfig, WifiDevice, WifiStation,
};
use units::{Bytes, Dbm, Duration, Metres, Seed, Time};

const SERVER: HostId = HostId(0);
const PACKET: Bytes = Bytes::new(1500);

fn shared(driver: u32) -> Buffer {
    Buffer::Shared { queue: QueueConfig::Pfifo(10_000), driver, order: DriverOrder::RoundRobin }
}

fn device(rate: RateControl) -> WifiDevice {
    WifiDevice { noise: Dbm::new(-95), rate, buffer: shared(128), ..WifiDevice::default() }
}

/// A cell in which only collisions cause errors.
fn cell(ampdu_frames: u8) -> WifiConfig {
    WifiConfig {
        name: "home".into(),
        aggregation: Aggregation { ampdu_frames, ..Aggregation::default() },
        // Bianchi's stations retransmit without limit.
        retry_limit: Some(u8::MAX),
        ccmp: false,
        ap: device(RateControl::Fixed(7)),
        ..WifiConfig::default()
    }
}

/// A station in the same room, with this device.
fn near(device: &WifiDevice) -> WifiStation {
    WifiStation { device: device.clone(), ..WifiStation::default() }
}

/// A server behind the core, and so many equal stations.
fn network(config: WifiConfig, stations: usize, seed: u64) -> Network {
    let stations = vec![near(&config.ap); stations];
    network_of(config, stations, seed)
}

fn network_of(config: WifiConfig, stations: Vec<WifiStation>, seed: u64) -> Network {
    let wired = AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() };
    let host = |(index, station)| HostConfig {
        name: format!("sta{index}"),
        access: AccessConfig::Wifi(station),
    };
    let server = HostConfig { name: "server".into(), access: wired };
    let hosts = std::iter::once(server).chain((1..).zip(stations).map(host)).collect();
    let config = NetworkConfig { hosts, wifi: vec![config], ..NetworkConfig::default() };
    Network::new(&config, Seed(seed)).unwrap()
}

/// The packets that arrived since the last look.
#[derive(Default)]
struct Arrivals(Vec<Packet>);

impl Events for Arrivals {
    fn delivered(&mut self, _: Time, packet: Packet) {
        self.0.push(packet);
    }
    fn dropped(&mut self, _: Time, dropped: Dropped) {
        panic!("nothing is dropped here: {dropped:?}");
    }
}

/// Keeps packets of each flow waiting, and counts those that arrive after a second of warm-up.
fn saturate(network: &mut Network, flows: &[(Flow, Dscp)], secs: u64) -> Vec<u64> {
    let mut counts = vec![0; flows.len()];
    let mut arrivals = Arrivals::default();
    let packet = |index: usize, sent| {
        let (flow, dscp) = flows[index];
        Packet { id: index as u64, size: PACKET, flow, dscp, sent, ..Packet::default() }
    };
    for round in 0..120 * flows.len() {
        network.send(Time::ZERO, packet(round % flows.len(), Time::ZERO), &mut arrivals);
    }
    while let Some(now) = network.next_wake() {
        if now > Time::from_secs(secs + 1) {
            break;
        }
        network.advance(now, &mut arrivals);
        for arrived in std::mem::take(&mut arrivals.0) {
            let index = arrived.id as usize;
            counts[index] += u64::from(now >= Time::from_secs(1));
            network.send(now, packet(index, now), &mut arrivals);
        }
    }
    assert!(network.accounting().balances());
    counts
}

fn up(station: u16) -> (Flow, Dscp) {
    (Flow { src: HostId(station), dst: SERVER, ..Flow::default() }, Dscp::DEFAULT)
}

fn down(station: u16) -> (Flow, Dscp) {
    (Flow { src: SERVER, dst: HostId(station), ..Flow::default() }, Dscp::DEFAULT)
}

fn mbps(packets: u64, secs: u64) -> f64 {
    packets as f64 * PACKET.bits() as f64 / secs as f64 / 1e6
}

/// The duration of a PPDU in microseconds: symbols of 4 µs and 260 bits (MCS 7, 20 MHz) with 22
/// service and tail bits, an HT preamble of one stream, and the signal extension (IEEE 802.11-2016
/// § 19.4.3).
fn data_micros(psdu: u64) -> f64 {
    36.0 + 4.0 * ((8 * psdu + 22) as f64 / 260.0).ceil() + 6.0
}

const SLOT: f64 = 9.0;
const SIFS: f64 = 10.0;
const DIFS: f64 = 28.0;
/// An ACK at 24 Mbit/s and at 6 Mbit/s, and a block ACK at 24 Mbit/s, in microseconds.
const ACK: f64 = 34.0;
const SLOW_ACK: f64 = 50.0;
const BLOCK_ACK: f64 = 38.0;
/// QoS header, frame check sequence, LLC and SNAP.
const OVERHEAD: u64 = 26 + 4 + 8;

/// The saturation throughput of `n` stations in Mbit/s (Bianchi 2000, equations 7, 9 and 13), basic
/// access.
fn bianchi(n: u32, packet: Bytes) -> f64 {
    let (w, m) = (16.0, 6.0);
    let tau = |p: f64| {
        2.0 * (1.0 - 2.0 * p)
            / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - libm::pow(2.0 * p, m)))
    };
    let collides = |tau: f64| 1.0 - libm::pow(1.0 - tau, f64::from(n) - 1.0);
    // p − collides(τ(p)) increases with p: bisection.
    let (mut low, mut high) = (0.0, 0.999);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        if p < collides(tau(p)) { low = p } else { high = p }
    }
    let tau = tau(low);
    let idle = libm::pow(1.0 - tau, f64::from(n));
    let success = f64::from(n) * tau * libm::pow(1.0 - tau, f64::from(n) - 1.0);
    let data = data_micros(packet.get() + OVERHEAD);
    let successful = data + SIFS + ACK + DIFS;
    let collision = data + SIFS + SLOW_ACK + DIFS;
    let slot = idle * SLOT + success * successful + (1.0 - idle - success) * collision;
    success * packet.bits() as f64 / slot
}

#[test]
fn saturation_throughput_agrees_with_bianchis_model() {
    const SECS: u64 = 30;
    for n in [1, 2, 5, 10, 20, 50] {
        let flows: Vec<_> = (1..=n).map(up).collect();
        let counts = saturate(&mut network(cell(1), usize::from(n), 6), &flows, SECS);
        let (measured, model) = (mbps(counts.iter().sum(), SECS), bianchi(n.into(), PACKET));
        let off = measured / model - 1.0;
        println!("{n:2} stations: {measured:.3} Mbit/s, model {model:.3}, {:+.2} %", 100.0 * off);
        // With very many stations it shows that those that collided contend before those that wait
        // for EIFS.
        let bound = if n <= 20 { 0.03 } else { 0.05 };
        assert!(off.abs() < bound, "{n} stations: {measured} Mbit/s against {model}");
    }
}

/// Over five minutes, since shares converge slowly: a station with a large window is silent for
/// long.
#[test]
fn the_access_point_gets_the_share_of_one_station() {
    const SECS: u64 = 300;
    for n in [1, 2, 5, 10] {
        let flows: Vec<_> = (1..=n).map(up).chain((1..=n).map(down)).collect();
        let counts = saturate(&mut network(cell(1), usize::from(n), 2), &flows, SECS);
        let all: u64 = counts.iter().sum();
        let access_point: u64 = counts[usize::from(n)..].iter().sum();
        let (share, fair) = (access_point as f64 / all as f64, 1.0 / (f64::from(n) + 1.0));
        println!("{n:2} stations: the access point has {share:.4}, fair {fair:.4}");
        assert!((share / fair - 1.0).abs() < 0.05, "{n} stations: {share} against {fair}");
    }
}

/// A single station: DIFS, 7.5 slots, the data, SIFS, a block ACK.
#[test]
fn the_airtime_of_aggregates_agrees_with_arithmetic() {
    const SECS: u64 = 10;
    for frames in [2_u8, 8, 16, 32, 64] {
        let counts = saturate(&mut network(cell(frames), 1, 3), &[up(1)], SECS);
        let mpdu = PACKET.get() + OVERHEAD;
        let subframe = 4 + mpdu.next_multiple_of(4);
        // At most 4 ms, 65 535 bytes, and 64 frames.
        let fits = (65_535 / subframe).min((4_000.0 - 44.0) as u64 * 65 / 8 / subframe);
        let frames = u64::from(frames).min(fits);
        let psdu = frames * subframe - (subframe - 4 - mpdu);
        let cycle = DIFS + 7.5 * SLOT + data_micros(psdu) + SIFS + BLOCK_ACK;
        let (measured, expected) =
            (mbps(counts[0], SECS), frames as f64 * PACKET.bits() as f64 / cycle);
        println!("{frames:2} frames: {measured:.3} Mbit/s, arithmetic {expected:.3}");
        assert!(
            (measured / expected - 1.0).abs() < 0.005,
            "{frames} frames: {measured} against {expected}"
        );
    }
}

/// Heusse et al. 2003, equation 9: with equal channel access, a slow station slows all others.
#[test]
fn a_slow_station_gets_equal_throughput_and_most_of_the_airtime() {
    let config = cell(1);
    let slow = near(&device(RateControl::Fixed(0)));
    let stations = vec![near(&config.ap), slow];
    let mut network = network_of(config, stations, 4);
    let counts = saturate(&mut network, &[up(1), up(2)], 30);
    let ratio = counts[0] as f64 / counts[1] as f64;
    let airtimes = [1, 2].map(|station| shown(&network, station, Direction::Up, "airtime"));
    println!("at MCS 7 and MCS 0: {counts:?} packets, {airtimes:?} s on the air");
    assert!((0.95..1.05).contains(&ratio), "{counts:?}");
    assert!(airtimes[1] > 5.0 * airtimes[0]);
}

/// A value that a station shows, by name.
fn shown(network: &Network, station: u16, direction: Direction, name: &str) -> f64 {
    let mut value = f64::NAN;
    let link = LinkId { host: HostId(station), direction };
    network.show(link, Time::ZERO, &mut |what, shown| {
        if what == name {
            value = shown;
        }
    });
    value
}

/// Høiland-Jørgensen et al. 2017: round-robin by transmissions gives the far station most of the
/// airtime, scheduling by airtime gives it half.
#[test]
fn airtime_scheduling_gives_each_station_equal_airtime() {
    let airtimes = |buffer: Buffer| {
        let mut config = cell(4);
        config.ap = WifiDevice { buffer, rate: RateControl::Minstrel, ..config.ap };
        let far = WifiStation { walls: 6, distance: Metres::new(12), ..near(&config.ap) };
        let stations = vec![near(&config.ap), far];
        let mut network = network_of(config, stations, 5);
        saturate(&mut network, &[down(1), down(2)], 20);
        [1, 2].map(|station| shown(&network, station, Direction::Down, "airtime"))
    };
    let shared = airtimes(shared(400));
    let fair = airtimes(Buffer::PerStation { queue: QueueConfig::Pfifo(10_000) });
    println!("near and far: {shared:?} s in turn, {fair:?} s by airtime");
    assert!(shared[1] > 2.0 * shared[0], "{shared:?}");
    assert!((fair[1] / fair[0] - 1.0).abs() < 0.05, "{fair:?}");
}

/// Sends these packets at once and returns those that arrive and those that are dropped, in order.
fn deliver(network: &mut Network, packets: &[Packet]) -> (Vec<u64>, Vec<(u64, DropReason)>) {
    struct Ends(Vec<u64>, Vec<(u64, DropReason)>);
    impl Events for Ends {
        fn delivered(&mut self, _: Time, packet: Packet) {
            self.0.push(packet.id);
        }
        fn dropped(&mut self, _: Time, dropped: Dropped) {
            self.1.push((dropped.packet.id, dropped.reason));
        }
    }
    let mut ends = Ends(Vec::new(), Vec::new());
    for packet in packets {
        network.send(Time::ZERO, *packet, &mut ends);
    }
    while let Some(now) = network.next_wake() {
        network.advance(now, &mut ends);
    }
    assert!(network.accounting().balances());
    (ends.0, ends.1)
}

#[test]
fn a_fifo_driver_serves_the_oldest_packet_and_round_robin_each_receiver_in_turn() {
    // Three packets for the first station, then one for the second, and so on.
    let packets: Vec<Packet> = (0..40)
        .map(|id| Packet {
            id,
            size: PACKET,
            flow: down(if id % 4 == 3 { 2 } else { 1 }).0,
            ..Packet::default()
        })
        .collect();
    let order = |order: DriverOrder| {
        let mut config = cell(1);
        let queue = QueueConfig::Pfifo(10_000);
        config.ap.buffer = Buffer::Shared { queue, driver: 128, order };
        deliver(&mut network(config, 2, 1), &packets).0
    };
    let fifo = order(DriverOrder::Fifo);
    assert!(fifo.iter().copied().eq(0..40), "{fifo:?}");
    let in_turn = order(DriverOrder::RoundRobin);
    // Ten turns each, until the second station's packets are gone.
    let second = |id: &u64| id % 4 == 3;
    assert_eq!(in_turn[..20].iter().filter(|id| second(id)).count(), 10, "{in_turn:?}");
}

#[test]
fn packets_that_outlive_their_lifetime_in_the_driver_are_dropped_and_make_room() {
    // A packet takes 2 ms at MCS 0, so that the driver's 100 packets would take 200 ms.
    let mut config = cell(1);
    config.ap.rate = RateControl::Fixed(0);
    config.ap.buffer = shared(100);
    config.ap.msdu_lifetime = Some(Duration::from_millis(50));
    let packet = |id| Packet { id, size: PACKET, flow: down(1).0, ..Packet::default() };
    let packets: Vec<Packet> = (0..500).map(packet).collect();
    let (arrived, dropped) = deliver(&mut network(config, 1, 1), &packets);
    assert_eq!(arrived.len() + dropped.len(), 500);
    assert!(dropped.iter().all(|(_, reason)| *reason == DropReason::Discarded), "{dropped:?}");
    // Of the first hundred those that were sent within 50 ms; then the next hundred enters, without
    // the time that it waited in the queue.
    let first = arrived.iter().filter(|id| **id < 100).count();
    assert!((18..30).contains(&first), "{first} of the first 100 arrived");
    assert!((5 * 18..5 * 30).contains(&arrived.len()), "{} of 500 arrived", arrived.len());
}

/// The sojourn time of a low-rate flow's packets at the access point, beside saturating downloads,
/// by DSCP.
#[test]
fn higher_categories_have_lower_delays() {
    let sojourn = |access: ChannelAccess, dscp: Dscp| {
        let config = WifiConfig { access, ..cell(16) };
        let mut network = network(config, 2, 6);
        let mut log = Thin { port: 9, sum: Duration::ZERO, count: 0, others: Vec::new() };
        let flows = [down(1), down(2), up(1), up(2)];
        let packet = |index: usize, sent| {
            let (flow, dscp) = flows[index];
            Packet { id: index as u64, size: PACKET, flow, dscp, sent, ..Packet::default() }
        };
        for round in 0..800 {
            network.send(Time::ZERO, packet(round % 4, Time::ZERO), &mut log);
        }
        for step in 0..1_000 {
            let now = Time::from_millis(10 * step);
            while let Some(due) = network.next_wake().filter(|&due| due <= now) {
                network.advance(due, &mut log);
                for index in std::mem::take(&mut log.others) {
                    network.send(due, packet(index, due), &mut log);
                }
            }
            let flow = Flow { src_port: 9, ..down(1).0 };
            let thin =
                Packet { id: 9, size: Bytes::new(200), flow, dscp, sent: now, ..Packet::default() };
            network.send(now, thin, &mut log);
        }
        log.sum.as_millis_f64() / f64::from(log.count)
    };
    let plain = sojourn(ChannelAccess::Dcf, Dscp::EF);
    let best_effort = sojourn(ChannelAccess::Edca, Dscp::DEFAULT);
    let [video, voice] = [Dscp::AF41, Dscp::EF].map(|dscp| sojourn(ChannelAccess::Edca, dscp));
    println!(
        "DCF {plain:.1} ms; EDCA: best effort {best_effort:.1}, video {video:.1}, voice {voice:.1} ms"
    );
    assert!(plain > 50.0 && best_effort > 50.0);
    assert!(voice < video && video < 15.0);
}

/// Averages the delays of one flow, and collects which packets of others arrived.
struct Thin {
    port: u16,
    sum: Duration,
    count: u32,
    others: Vec<usize>,
}

impl Events for Thin {
    fn delivered(&mut self, at: Time, packet: Packet) {
        if packet.flow.src_port == self.port {
            self.sum += at.saturating_since(packet.sent);
            self.count += 1;
        } else {
            self.others.push(packet.id as usize);
        }
    }
    fn dropped(&mut self, _: Time, dropped: Dropped) {
        panic!("nothing is dropped here: {dropped:?}");
    }
}

/// Of two simultaneous transmissions the stronger is received, if its SINR suffices for its rate.
#[test]
fn the_stronger_of_two_transmissions_is_received() {
    let strong = near(&device(RateControl::Fixed(0)));
    let meets = |walls: u8| {
        let weak = WifiStation { walls, ..strong.clone() };
        let mut network = network_of(cell(1), vec![strong.clone(), weak], 7);
        saturate(&mut network, &[up(1), up(2)], 20);
        let of = |station, name| shown(&network, station, Direction::Up, name);
        assert!(of(1, "collisions") > 100.0);
        [1, 2].map(|station| of(station, "retransmissions") / of(station, "collisions"))
    };
    // Five walls make a difference of 25 dB, far more than BPSK needs. With equal signals neither
    // is received.
    let (apart, alike) = (meets(5), meets(0));
    println!("retransmissions a collision: {apart:?} of the strong and the weak, {alike:?} alike");
    assert!(apart[0] == 0.0 && apart[1] > 0.99, "{apart:?}");
    assert!(alike.iter().all(|share| *share > 0.99), "{alike:?}");
}

/// Downloads and uploads are charged to their station alike: the download of another station gets
/// the other half.
#[test]
fn an_upload_is_charged_to_its_station() {
    let mut config = cell(64);
    config.ap.buffer = Buffer::PerStation { queue: QueueConfig::Pfifo(10_000) };
    let mut network = network(config, 2, 8);
    saturate(&mut network, &[down(1), down(2), up(1)], 20);
    let air = |station, direction| shown(&network, station, direction, "airtime");
    let first = Direction::ALL.map(|direction| air(1, direction));
    println!("with an upload {first:?} s up and down, without {:.2} s", air(2, Direction::Down));
    // The upload wins half of the channel by contention, so that the access point's half goes to
    // the other station.
    assert!(first[1] < 0.1 * air(2, Direction::Down));
}

/// Two saturated categories at two stations: the one with the shorter AIFS and windows gets more,
/// and a burst ends with its transmit opportunity.
#[test]
fn a_burst_fills_its_transmit_opportunity_exactly() {
    const SECS: u64 = 5;
    let config = WifiConfig { access: ChannelAccess::Edca, ..cell(1) };
    let (flow, _) = up(1);
    let counts = saturate(&mut network(config, 1, 9), &[(flow, Dscp::EF)], SECS);
    // AIFS of 28 µs and 1.5 slots; then, within 1504 µs, frames with SIFS and an ACK each,
    // separated by SIFS.
    let each = data_micros(PACKET.get() + OVERHEAD) + SIFS + ACK;
    let frames = ((1_504.0 + SIFS) / (each + SIFS)).floor();
    let cycle = 28.0 + 1.5 * SLOT + frames * each + (frames - 1.0) * SIFS;
    let (measured, expected) = (mbps(counts[0], SECS), frames * PACKET.bits() as f64 / cycle);
    println!("voice: {frames} frames a burst, {measured:.3} Mbit/s, arithmetic {expected:.3}");
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} against {expected}");

    let flows = [(flow, Dscp::AF41), up(2)];
    let config = WifiConfig { access: ChannelAccess::Edca, ..cell(64) };
    let counts =
        saturate(&mut network_of(config.clone(), vec![near(&config.ap); 2], 9), &flows, SECS);
    println!("video and best effort: {counts:?}");
    assert!(counts[0] > counts[1], "{counts:?}");
}

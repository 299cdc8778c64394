use crate::{Cell, Experiment, ExperimentError};
use net::{
    AccessConfig, Buffer, ChannelAccess, ChannelWidth, GuardInterval, RateControl, WifiConfig,
    WifiStation,
};
use units::{Bytes, Dbm, Decibels, Duration, Metres, Seed};

const HOME: &str = r#"
title = "A call over Wi-Fi"
duration = "60s"

[wifi.home]
channel = 11

[wifi.home.ap]
tx_power = "20dBm"

[host.pc1]

[host.pc3]
tsq = true

[host.pc3.wifi]
cell = "home"
distance = "3m"

[call.main]
from = "pc3"
to = "pc1"
"#;

fn parse(text: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(text, "x.toml")
}

/// The only cell and its only station.
fn read(cell: &Cell) -> (WifiConfig, WifiStation) {
    let network = cell.scenario(Seed(1)).network;
    let AccessConfig::Wifi(station) = network.hosts[1].access.clone() else { panic!("a station") };
    (network.wifi[0].clone(), station)
}

fn with(old: &str, new: &str) -> Result<Experiment, ExperimentError> {
    assert!(HOME.contains(old), "{old}");
    parse(&HOME.replacen(old, new, 1))
}

#[test]
fn missing_keys_have_defaults() {
    let (cell, station) = read(&parse(HOME).unwrap().cells()[0]);
    assert_eq!(
        (cell.name.as_str(), cell.channel, cell.retry_limit, cell.ccmp),
        ("home", 11, None, true)
    );
    assert_eq!((cell.width, cell.access), (ChannelWidth::Mhz20, ChannelAccess::Dcf));
    assert_eq!(cell.aggregation, net::Aggregation::default());
    assert_eq!((station.cell, station.distance, station.walls), (0, Metres::new(3), 0));
    assert_eq!((station.shadowing, station.fading), (net::Fading::NONE, net::Fading::NONE));
    assert_eq!((station.device.noise, station.device.rate), (Dbm::new(-90), RateControl::Minstrel));
    assert!(matches!(station.device.buffer, Buffer::Shared { driver: 128, .. }));
}

#[test]
fn every_key_is_read() {
    let cell = "channel = 11\nchannel_width = \"40MHz\"\nchannel_access = \"edca\"\nretry_limit = 4\nencryption = \"none\"\n\
                aggregation = { ampdu_frames = 8, ampdu_bytes = \"8191B\", ampdu_duration = \"1ms\", amsdu_bytes = \"3839B\" }\n\
                path_loss = { exponent = 3.5, wall = \"7.5dB\" }\n";
    let station = "distance = \"12.5m\"\nwalls = 2\nshadowing = { deviation = \"2dB\", coherence = \"10s\" }\n\
                   fading = { deviation = \"3dB\", coherence = \"500ms\" }\ntx_power = \"15dBm\"\nnoise = \"-80.5dBm\"\n\
                   spatial_streams = 1\nguard_interval = \"400ns\"\nrate = \"mcs 7\"\nbuffer = \"per station\"\nmsdu_lifetime = \"500ms\"\n\
                   queue = \"fq_codel target 20ms\"\n";
    let text = HOME.replace("channel = 11\n", cell).replace("distance = \"3m\"\n", station);
    let (cell, station) = read(&parse(&text).unwrap().cells()[0]);
    assert_eq!(
        (cell.width, cell.access, cell.retry_limit),
        (ChannelWidth::Mhz40, ChannelAccess::Edca, Some(4))
    );
    assert_eq!(
        (cell.ccmp, cell.path_loss.exponent, cell.path_loss.wall),
        (false, 3.5, Decibels::from_f64(7.5))
    );
    assert_eq!(
        (cell.aggregation.ampdu_frames, cell.aggregation.ampdu_bytes),
        (8, Bytes::new(8_191))
    );
    assert_eq!(cell.aggregation.ampdu_duration, Duration::from_millis(1));
    assert_eq!(cell.aggregation.amsdu_bytes, Bytes::new(3_839));
    assert_eq!((station.walls, station.shadowing.deviation), (2, Decibels::new(2)));
    assert_eq!(station.fading.coherence, Duration::from_millis(500));
    let device = station.device;
    assert_eq!((device.tx_power, device.noise), (Dbm::new(15), Dbm::from_f64(-80.5)));
    assert_eq!((device.spatial_streams, device.guard_interval), (1, GuardInterval::Short));
    assert_eq!(device.rate, RateControl::Fixed(7));
    assert_eq!(device.msdu_lifetime, Some(Duration::from_millis(500)));
    let Buffer::PerStation { queue } = device.buffer else { panic!("a queue per station") };
    assert!(queue.to_string().contains("20ms"), "{queue}");
}

#[test]
fn words_replace_tables() {
    let (cell, _) = read(&with("channel = 11", "aggregation = \"none\"").unwrap().cells()[0]);
    assert_eq!(
        (cell.channel, cell.aggregation.ampdu_frames, cell.aggregation.amsdu_bytes),
        (11, 1, Bytes::ZERO)
    );
    let (cell, _) =
        read(&with("tx_power = \"20dBm\"", "buffer = \"per station\"").unwrap().cells()[0]);
    let Buffer::PerStation { queue } = cell.ap.buffer else { panic!("a queue per station") };
    assert!(queue.to_string().starts_with("fq_codel"), "{queue}");
    let (cell, _) =
        read(&with("tx_power = \"20dBm\"", "driver_order = \"fifo\"").unwrap().cells()[0]);
    assert!(matches!(cell.ap.buffer, Buffer::Shared { order: net::DriverOrder::Fifo, .. }));
}

#[test]
fn cells_and_stations_can_be_set_and_varied() {
    let set = |key: &str, value: &str| {
        parse(HOME).unwrap().with_overrides(&[(key.to_owned(), value.to_owned())])
    };
    let (cell, _) = read(&set("wifi.home.channel_access", "edca").unwrap().cells()[0]);
    assert_eq!(cell.access, ChannelAccess::Edca);
    let (cell, _) = read(&set("wifi.*.ap.queue", "bfifo limit 64kB").unwrap().cells()[0]);
    assert!(matches!(
        cell.ap.buffer,
        Buffer::Shared { queue: net::QueueConfig::Bfifo(_), driver: 128, .. }
    ));
    let error = set("wifi.hime.channel", "3").unwrap_err().to_string();
    assert_eq!(error, "--set: wifi.hime.channel: there is no cell 'hime'; the cells are home");
    let grid = "[grid]\n\"wifi.home.ap.queue\" = [\"pfifo limit 100\", \"pfifo limit 1000\"]\n\
                \"host.pc3.wifi.distance\" = [\"3m\", \"15m\", \"30m\"]\n";
    let experiment = parse(&format!("{HOME}{grid}")).unwrap();
    let distances = experiment.cells().iter().map(|cell| read(cell).1.distance.as_f64());
    assert_eq!(distances.collect::<Vec<_>>(), [3.0, 15.0, 30.0, 3.0, 15.0, 30.0]);
    assert_eq!(
        experiment.cells()[5].label(),
        "wifi.home.ap.queue=pfifo limit 1000, host.pc3.wifi.distance=30m"
    );
}

#[test]
fn a_gateway_has_only_the_queues_of_lines() {
    let experiment =
        with("[host.pc1]", "[host.pc1]\nup = { rate = \"1Mbit/s\", queue = \"pfifo limit 9\" }");
    let queues = experiment.unwrap().cells()[0].gateway_queues("eth0");
    assert_eq!(queues.iter().map(|queue| queue.line.as_str()).collect::<Vec<_>>(), ["pc1.up"]);
}

#[test]
fn errors_name_the_line_the_key_and_the_suggestion() {
    let changes = [
        ("[host.pc1]", "[wifi.office]\n[host.pc1]"),
        ("[host.pc1]", "[wifi.'of.fice']\n[host.pc1]"),
        ("cell = \"home\"", "cell = \"hom\""),
        ("cell = \"home\"", "cell = \"office\""),
        ("cell = \"home\"", ""),
        ("distance = \"3m\"", ""),
        ("distance = \"3m\"", "distance = \"3\""),
        ("distance = \"3m\"", "distance = 3"),
        ("tsq = true", "up = { rate = \"1Mbit/s\" }"),
        ("channel = 11", "channel = 14"),
        ("channel = 11", "channel = 0"),
        ("channel = 11", "channels = 11"),
        ("channel = 11", "channel_width = \"80MHz\""),
        ("channel = 11", "channel_access = \"ecda\""),
        ("channel = 11", "retry_limit = 0"),
        ("channel = 11", "encryption = \"wep\""),
        ("channel = 11", "aggregation = \"some\""),
        ("channel = 11", "aggregation = { ampdu_frames = 65 }"),
        ("channel = 11", "aggregation = { ampdu_bytes = \"66kB\" }"),
        ("channel = 11", "aggregation = { ampdu_duration = \"11ms\" }"),
        ("channel = 11", "aggregation = { amsdu_bytes = \"8kB\" }"),
        ("channel = 11", "path_loss = { exponent = 0.5 }"),
        ("channel = 11", "path_loss = { wall = \"-5dB\" }"),
        ("tx_power = \"20dBm\"", "tx_power = \"20dB\""),
        ("tx_power = \"20dBm\"", "tx_power = \"-95dBm\""),
        ("tx_power = \"20dBm\"", "spatial_streams = 3"),
        ("tx_power = \"20dBm\"", "guard_interval = \"600ns\""),
        ("tx_power = \"20dBm\"", "rate = \"7\""),
        ("tx_power = \"20dBm\"", "rate = \"mcs 16\""),
        ("tx_power = \"20dBm\"", "rate = \"mcs 8\"\nspatial_streams = 1"),
        ("tx_power = \"20dBm\"", "buffer = \"each\""),
        ("tx_power = \"20dBm\"", "buffer = \"per station\"\ndriver = 9"),
        ("tx_power = \"20dBm\"", "driver_order = \"lifo\""),
        ("tx_power = \"20dBm\"", "msdu_lifetime = \"0s\""),
        ("tx_power = \"20dBm\"", "driver = 0"),
        ("tx_power = \"20dBm\"", "queue = \"pfifo limit\""),
        ("tx_power = \"20dBm\"", "queue = \"tbf rate 1Mbit/s burst 5kB limit 9kB\""),
        ("tx_power = \"20dBm\"", "queue = \"droptail limit 100ms\""),
        ("distance = \"3m\"", "distance = \"3m\"\nwalls = 51"),
        ("distance = \"3m\"", "distance = \"3m\"\nfading = { deviation = \"3dB\" }"),
        (
            "distance = \"3m\"",
            "distance = \"3m\"\nfading = { deviation = \"-3dB\", coherence = \"1s\" }",
        ),
        (
            "distance = \"3m\"",
            "distance = \"3m\"\nshadowing = { deviation = \"3dB\", coherence = \"1us\" }",
        ),
        ("distance = \"3m\"", "distance = \"3m\"\ndeviation = \"3dB\""),
        ("[wifi.home]\nchannel = 11\n\n[wifi.home.ap]\ntx_power = \"20dBm\"\n", ""),
    ];
    let messages: Vec<_> =
        changes.iter().map(|(old, new)| with(old, new).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

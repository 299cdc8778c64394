use crate::{Cell, Experiment, ExperimentError};
use net::{
    AccessConfig, ChannelBandwidth, FastFading, Field, Handover, Layout, LteConfig, LteTerminal,
    QueueConfig, RlcMode, Scheduler, Start,
};
use units::{Bitrate, Dbm, Decibels, Duration, Frequency, Metres, Seed, Speed};

const CITY: &str = r#"
title = "A call over LTE"
duration = "60s"

[lte.city]
bandwidth = "10MHz"

[lte.city.bearer.calls]
filter = { dscp = "af41" }

[host.server]

[host.phone]
tsq = true

[host.phone.lte]
distance = "300m"

[call.main]
from = "phone"
to = "server"
"#;

fn parse(text: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(text, "x.toml")
}

/// The first network and the only terminal.
fn read(cell: &Cell) -> (LteConfig, LteTerminal) {
    let network = cell.scenario(Seed(1)).network;
    let AccessConfig::Lte(terminal) = network.hosts[1].access.clone() else { panic!("a terminal") };
    (network.lte[0].clone(), terminal)
}

fn with(old: &str, new: &str) -> Result<Experiment, ExperimentError> {
    assert!(CITY.contains(old), "{old}");
    parse(&CITY.replacen(old, new, 1))
}

/// A network with seven sites and a terminal at a random position.
fn with_sites(network: &str, terminal: &str) -> Result<Experiment, ExperimentError> {
    let text = CITY.replace("bandwidth = \"10MHz\"\n", &format!("sites = 7\n{network}\n"));
    parse(&text.replace("distance = \"300m\"\n", &format!("{terminal}\n")))
}

#[test]
fn missing_keys_have_defaults() {
    let (network, terminal) = read(&parse(CITY).unwrap().cells()[0]);
    assert_eq!((network.name.as_str(), network.bandwidth), ("city", ChannelBandwidth::Mhz10));
    let mut usual = LteConfig {
        name: network.name.clone(),
        bandwidth: network.bandwidth,
        ..LteConfig::default()
    };
    usual.bearers.push(network.bearers[1].clone());
    assert_eq!(format!("{network:?}"), format!("{usual:?}"));
    let start = Start::At { distance: Metres::new(300), obstacles: Decibels::ZERO };
    assert_eq!(
        format!("{terminal:?}"),
        format!("{:?}", LteTerminal { place: start, ..LteTerminal::default() })
    );
}

#[test]
fn every_key_is_read() {
    let network = "carrier = \"900MHz\"\npath_loss = { at_a_kilometre = \"120.9dB\", exponent = 3.5, penetration = \"10dB\" }\n\
                   shadowing = { deviation = \"8dB\", distance = \"25m\" }\nfast_fading = \"none\"\ntx_power = \"46dBm\"\n\
                   antenna_gain = \"15dB\"\nnoise_figure = \"4dB\"\nlayers = 1\nscheduler = \"proportional-fair\"\n\
                   scheduler_window = \"100ms\"\nharq_retransmissions = 0\nscheduling_request_period = \"5ms\"\n\
                   sectors = 1\ninter_site_distance = \"1732m\"\n\
                   handover = { hysteresis = \"2dB\", time_to_trigger = \"320ms\", interruption = \"30ms\" }\n\
                   bearer.default = { queue = \"fq_codel\", discard_timer = \"1500ms\" }";
    let terminal =
        "network = \"city\"\nspeed = \"30km/h\"\ntx_power = \"20dBm\"\nnoise_figure = \"7dB\"";
    let (network, terminal) = read(&with_sites(network, terminal).unwrap().cells()[0]);
    assert_eq!(network.carrier, Frequency::from_mhz(900));
    let loss = network.path_loss;
    assert_eq!((loss.at_a_kilometre, loss.exponent), (Decibels::from_f64(120.9), 3.5));
    assert_eq!(loss.penetration, Decibels::new(10));
    assert_eq!(
        (network.shadowing.deviation, network.shadowing.distance),
        (Decibels::new(8), Metres::new(25))
    );
    assert_eq!((network.fast_fading, network.layers), (FastFading::None, 1));
    assert_eq!((network.tx_power, network.antenna_gain), (Dbm::new(46), Decibels::new(15)));
    assert_eq!((network.noise_figure, network.harq_retransmissions), (Decibels::new(4), 0));
    assert_eq!(
        network.scheduler,
        Scheduler::ProportionalFair { window: Duration::from_millis(100) }
    );
    assert_eq!(network.scheduling_request_period, Duration::from_millis(5));
    assert_eq!(
        network.layout,
        Layout::Hexagonal { inter_site_distance: Metres::new(1_732), sectors: 1 }
    );
    let handover = Handover {
        hysteresis: Decibels::new(2),
        time_to_trigger: Duration::from_millis(320),
        interruption: Duration::from_millis(30),
    };
    assert_eq!(network.handover, handover);
    let bearer = &network.bearers[0];
    assert!(matches!(
        (&bearer.up, &bearer.down),
        (QueueConfig::FqCodel(_), QueueConfig::FqCodel(_))
    ));
    assert_eq!(bearer.discard_timer, Some(Duration::from_millis(1_500)));
    assert_eq!((terminal.place, terminal.speed), (Start::Anywhere, Speed::from_kmh(30)));
    assert_eq!((terminal.tx_power, terminal.noise_figure), (Dbm::new(20), Decibels::new(7)));
}

#[test]
fn the_default_bearer_comes_first_and_the_others_have_filters() {
    let bearers = "[lte.city.bearer.voice]\nqci = 1\ngbr = \"64kbit/s\"\nrlc = \"um\"\nqueue = \"codel\"\nup = \"pfifo limit 9\"\n\
                   discard_timer = \"infinity\"\n\
                   filter = [{ dscp = 46, protocol = \"udp\" }, { from = \"phone\", to = \"server\", src_port = 9, dst_port = 65535 }]\n\
                   [lte.city.bearer.default]\nqci = 8\n[host.server]\n";
    let (network, _) = read(&with("[host.server]\n", bearers).unwrap().cells()[0]);
    assert_eq!(network.bearers.iter().map(|bearer| bearer.qci).collect::<Vec<_>>(), [8, 9, 1]);
    let voice = &network.bearers[2];
    assert_eq!((voice.gbr, voice.rlc), (Some(Bitrate::from_kbps(64)), RlcMode::Unacknowledged));
    assert!(matches!((&voice.up, &voice.down), (QueueConfig::Pfifo(9), QueueConfig::Codel(_))));
    assert_eq!(voice.discard_timer, None);
    let shown = |filter: &net::Filter| {
        let matches = filter.matches.iter().map(|one| (one.field, one.value, one.mask));
        (filter.class, matches.collect::<Vec<_>>())
    };
    assert_eq!(shown(&network.bearers[1].filters[0]), (1, vec![(Field::Tos, 34 << 2, 0xfc)]));
    assert_eq!(
        voice.filters.iter().map(shown).collect::<Vec<_>>(),
        [
            (2, vec![(Field::Tos, 46 << 2, 0xfc), (Field::Protocol, 17, 0xff)]),
            (
                2,
                vec![
                    (Field::Src, 0x0a00_0002, u32::MAX),
                    (Field::Dst, 0x0a00_0001, u32::MAX),
                    (Field::SrcPort, 9, 0xffff),
                    (Field::DstPort, 65_535, 0xffff),
                ]
            ),
        ]
    );
}

#[test]
fn fading_can_be_a_trace() {
    let folder = std::env::temp_dir().join(format!("weir-fading-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("good.csv"), "interval_ms,2\n1,-2,3\n").unwrap();
    std::fs::write(folder.join("bad.csv"), "interval_ms,2\n1,?\n").unwrap();
    let path = folder.join("x.toml");
    let parse = |file: &str| {
        let fading = format!("bandwidth = \"10MHz\"\nfast_fading = {{ trace = \"{file}\" }}");
        Experiment::parse(&CITY.replace("bandwidth = \"10MHz\"", &fading), path.to_str().unwrap())
    };
    let (network, _) = read(&parse("good.csv").unwrap().cells()[0]);
    let error = parse("bad.csv").unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    let FastFading::Trace(trace) = network.fast_fading else { panic!("a trace") };
    assert_eq!(
        (trace.interval, &trace.gains),
        (Duration::from_millis(2), &vec![vec![1.0, -2.0, 3.0]])
    );
    assert_eq!((error.line, error.key.as_str()), (Some(7), "lte.city.fast_fading"));
    assert_eq!(error.reason, "bad.csv: line 2: '?' is not a gain from -200 to 100 dB");
}

#[test]
fn networks_and_terminals_can_be_set_and_varied() {
    let set = |key: &str, value: &str| {
        parse(CITY).unwrap().with_overrides(&[(key.to_owned(), value.to_owned())])
    };
    let (network, _) = read(&set("lte.city.scheduler", "rr").unwrap().cells()[0]);
    assert_eq!(network.scheduler, Scheduler::RoundRobin);
    let (network, _) = read(&set("lte.city.bearer.default.down", "codel").unwrap().cells()[0]);
    assert!(matches!(network.bearers[0].down, QueueConfig::Codel(_)));
    let (network, _) = read(&set("lte.*.bearer.*.queue", "bfifo limit 64kB").unwrap().cells()[0]);
    assert!(matches!(network.bearers[1].up, QueueConfig::Bfifo(_)));
    let error = set("lte.citi.scheduler", "rr").unwrap_err().to_string();
    assert_eq!(
        error,
        "--set: lte.citi.scheduler: there is no LTE network 'citi'; the LTE networks are city"
    );
    let grid = "[grid]\n\"lte.city.bearer.default.queue\" = [\"pfifo limit 100\", \"codel\"]\n\
                \"host.phone.lte.distance\" = [\"100m\", \"1km\"]\n";
    let experiment = parse(&format!("{CITY}{grid}")).unwrap();
    let distances = experiment.cells().iter().map(|cell| match read(cell).1.place {
        Start::At { distance, .. } => distance.as_f64(),
        Start::Anywhere => f64::NAN,
    });
    assert_eq!(distances.collect::<Vec<_>>(), [100.0, 1000.0, 100.0, 1000.0]);
}

#[test]
fn errors_name_the_line_the_key_and_the_suggestion() {
    const NETWORK: &str = "bandwidth = \"10MHz\"";
    const FILTER: &str = "filter = { dscp = \"af41\" }";
    const TERMINAL: &str = "distance = \"300m\"";
    let changes = [
        (TERMINAL, "network = \"city\"\ndistance = \"300m\"\n[lte.town]"),
        (TERMINAL, "network = \"city\"\ndistance = \"300m\"\n[lte.town]\nsites = 7"),
        ("[host.server]", "[lte.town]\n[host.server]"),
        ("[host.server]", "[lte.'to.wn']\n[host.server]"),
        (
            "[host.server]",
            "[lte.town]\n[host.server]\nlte = { network = \"citi\", distance = \"1km\" }",
        ),
        ("tsq = true", "up = { rate = \"1Mbit/s\" }"),
        ("tsq = true", "wifi = { cell = \"home\", distance = \"1m\" }"),
        (NETWORK, "bandwidth = \"7MHz\""),
        (NETWORK, "bandwidth = 10"),
        (NETWORK, "bandwith = \"10MHz\""),
        (NETWORK, "carrier = \"60GHz\""),
        (NETWORK, "sites = 3"),
        (NETWORK, "sectors = 3"),
        (NETWORK, "inter_site_distance = \"500m\""),
        (NETWORK, "handover = { hysteresis = \"3dB\" }"),
        (NETWORK, "path_loss = { exponent = 0 }"),
        (NETWORK, "path_loss = { at_a_kilometre = \"20dB\" }"),
        (NETWORK, "path_loss = { penetration = \"-10dB\" }"),
        (NETWORK, "path_loss = { wall = \"5dB\" }"),
        (NETWORK, "shadowing = { distance = \"50m\" }"),
        (NETWORK, "shadowing = { deviation = \"21dB\" }"),
        (NETWORK, "shadowing = { deviation = \"8dB\", distance = \"0m\" }"),
        (NETWORK, "fast_fading = \"rician\""),
        (NETWORK, "fast_fading = true"),
        (NETWORK, "fast_fading = { trace = \"none.csv\" }"),
        (NETWORK, "fast_fading = { file = \"none.csv\" }"),
        (NETWORK, "tx_power = \"61dBm\""),
        (NETWORK, "tx_power = \"43dB\""),
        (NETWORK, "antenna_gain = \"31dB\""),
        (NETWORK, "noise_figure = \"-1dB\""),
        (NETWORK, "layers = 4"),
        (NETWORK, "scheduler = \"max\""),
        (NETWORK, "scheduler = \"rr\"\nscheduler_window = \"1s\""),
        (NETWORK, "scheduler_window = \"0s\""),
        (NETWORK, "harq_retransmissions = 8"),
        (NETWORK, "scheduling_request_period = \"3ms\""),
        (NETWORK, "bearer.default = { filter = { dscp = 0 } }"),
        (NETWORK, "bearer.default = { qci = 1, gbr = \"1Mbit/s\" }"),
        (NETWORK, "bearer.default = { discard_timer = \"5s\" }"),
        (NETWORK, "bearer.default = { queue = \"bfifo limit 1kB\" }"),
        (NETWORK, "bearer.default = { queue = \"tbf rate 1Mbit/s burst 5kB limit 9kB\" }"),
        (NETWORK, "bearer.default = { up = \"droptail limit 100ms\" }"),
        (NETWORK, "bearer.default = { down = \"codle\" }"),
        (NETWORK, "bearer.default = { rlc = \"tm\" }"),
        (FILTER, ""),
        (FILTER, "filter = []"),
        (FILTER, "filter = {}"),
        (FILTER, "filter = \"af41\""),
        (FILTER, "filter = { dscp = 64 }"),
        (FILTER, "filter = { protocol = \"quic\" }"),
        (FILTER, "filter = { from = \"phon\" }"),
        (FILTER, "filter = { src_port = 0 }"),
        (FILTER, "filter = { port = 443 }"),
        (FILTER, "filter = { dscp = 46 }\nqci = 10"),
        (FILTER, "filter = { dscp = 46 }\nqci = 2"),
        (FILTER, "filter = { dscp = 46 }\nqci = 2\ngbr = \"0bit/s\""),
        (FILTER, "filter = { dscp = 46 }\nqci = 7\ngbr = \"1Mbit/s\""),
        (TERMINAL, ""),
        (TERMINAL, "network = \"citi\"\ndistance = \"300m\""),
        (TERMINAL, "distance = \"0m\""),
        (TERMINAL, "distance = \"300m\"\nobstacles = \"-1dB\""),
        (TERMINAL, "distance = \"300m\"\nspeed = \"30\""),
        (TERMINAL, "distance = \"300m\"\nspeed = \"501km/h\""),
        (TERMINAL, "distance = \"300m\"\ntx_power = \"40dBm\""),
        (TERMINAL, "distance = \"300m\"\nwalls = 2"),
        (
            "[lte.city]\nbandwidth = \"10MHz\"\n\n[lte.city.bearer.calls]\nfilter = { dscp = \"af41\" }\n",
            "",
        ),
    ];
    let sites = [
        ("sectors = 2", ""),
        ("inter_site_distance = \"99m\"", ""),
        ("handover = { hysteresis = \"16dB\" }", ""),
        ("handover = { time_to_trigger = \"6s\" }", ""),
        ("handover = { offset = \"3dB\" }", ""),
        ("", "distance = \"300m\""),
        ("", "obstacles = \"3dB\""),
    ];
    let messages = changes.iter().map(|(old, new)| with(old, new));
    let messages =
        messages.chain(sites.iter().map(|(network, terminal)| with_sites(network, terminal)));
    let messages: Vec<_> = messages.map(|result| result.unwrap_err().to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_terminal_has_at_most_11_bearers() {
    let bearers: String = (0..11)
        .map(|name| format!("[lte.city.bearer.b{name}]\n{}\n", "filter = { dscp = 8 }"))
        .collect();
    let error = with("[host.server]\n", &format!("{bearers}[host.server]\n")).unwrap_err();
    assert_eq!(error.key, "lte.city.bearer.b9");
    assert_eq!(error.reason, "more than 11 bearers, the default bearer included");
}

#[test]
fn the_guide_shows_the_defaults() {
    let guide = include_str!("../../../../docs/guides/experiments.md");
    let section = guide.split("\n## LTE\n").nth(1).unwrap();
    let shown = section.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let text = format!(
        "title = \"t\"\nduration = \"1s\"\n[host.server]\n{shown}[call.main]\nfrom = \"phone\"\nto = \"server\"\n"
    );
    let (network, terminal) = read(&parse(&text).unwrap().cells()[0]);
    let mut usual = LteConfig { name: "city".to_owned(), ..LteConfig::default() };
    usual.bearers.push(network.bearers[1].clone());
    assert_eq!(format!("{network:?}"), format!("{usual:?}"));
    assert_eq!(format!("{terminal:?}"), format!("{:?}", LteTerminal::default()));
}

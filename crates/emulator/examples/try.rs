#![allow(warnings, clippy::all, clippy::disallowed_methods, missing_docs)]
use emulator::*;
use net::*;
use std::process::Command;
use std::sync::atomic::*;
use units::{Bitrate, Duration, Seed, Time};
struct O;
impl Observer for O {
    fn sample(&mut self, _: Time, _: &Network) {}
}
fn main() {
    let names: Vec<String> = ["alice", "bob"].map(String::from).to_vec();
    let line = |r: Option<u64>| LineConfig {
        rate: r.map_or(RateConfig::Unlimited, |r| {
            RateConfig::Scheduled(Schedule::constant(Bitrate::from_bps(r)))
        }),
        ..Default::default()
    };
    let rate = std::env::args().nth(1).and_then(|a| a.parse().ok()).filter(|r| *r > 0);
    let hosts = names
        .iter()
        .map(|n| HostConfig {
            name: n.clone(),
            access: AccessConfig::Wired { up: line(rate), down: line(None) },
        })
        .collect();
    let net = Network::new(&NetworkConfig { hosts, ..Default::default() }, Seed(1)).unwrap();
    let t = std::time::Instant::now();
    let mut bed = Testbed::new(&names).unwrap();
    eprintln!("up in {:?} {:?}", t.elapsed(), bed.hosts()[0].netns());
    let stop = AtomicBool::new(false);
    let e = Emulator::new(net, &mut bed, None, Clock::start()).unwrap();
    std::thread::scope(|s| {
        let h = s.spawn(|| e.run(Time::from_secs(600), Duration::from_secs(1), &stop, &mut O));
        let cmd = std::env::args().nth(2).unwrap_or("ping -c 3 bob".into());
        let mut srv = Command::new("sh");
        srv.args(["-c", &std::env::args().nth(3).unwrap_or("exec iperf3 -s >/dev/null".into())]);
        let mut srv = bed.hosts()[1].spawn(srv).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let mut c = Command::new("sh");
        c.args(["-c", &cmd]);
        println!("{:?}", bed.hosts()[0].spawn(c).unwrap().wait());
        let _ = srv.kill();
        let _ = srv.wait();
        stop.store(true, Ordering::Relaxed);
        let r = h.join().unwrap().unwrap();
        println!(
            "{:?} in {} out {} late p50 {} p99 {} max {} missed {} lost {:?}",
            r.real_time,
            r.entered,
            r.delivered,
            r.lateness.quantile(0.5),
            r.lateness.quantile(0.99),
            r.lateness.max(),
            r.lateness.missed(),
            bed.hosts().iter().map(|h| h.lost_before_entry()).collect::<Vec<_>>()
        );
    });
}

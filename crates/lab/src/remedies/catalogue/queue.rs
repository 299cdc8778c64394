//! Another queue at the lines of one's own.

use super::{Edits, Kind, Remedy, Unfit};
use crate::remedies::Situation;
use crate::remedies::situation::Line;
use units::{Bitrate, Bytes, Duration};

/// No ADSL carries more upwards (ITU-T G.992.5 annex M: 3.3 Mbit/s). Ours, with room.
const SLOW: Bitrate = Bitrate::from_mbps(10);
/// A packet of Ethernet, as tc's discipline red counts it (Janczukowicz 2017, Table 6.4: avpkt
/// 1514).
const PACKET: Bytes = Bytes::new(1514);

pub(super) fn remedies() -> Vec<Remedy> {
    let queue = |name, about, source, text: &'static str| {
        Remedy::new((name, Kind::Queue), about, source, move |situation: &Situation| {
            at_lines(situation, |_| Ok(text.to_owned()))
        })
    };
    vec![
        Remedy::new(
            ("short-buffer", Kind::Queue),
            "droptail that the line drains in 128 ms",
            "Janczukowicz 2017, Table 6.2 (16 kB at 1 Mbit/s)",
            |situation| at_lines(situation, short_buffer),
        ),
        queue("sfq", "a FIFO a flow, in turn", "Janczukowicz 2017 § 5.4.1", "sfq perturb 10"),
        Remedy::new(
            ("ared", Kind::Queue),
            "random early detection that adapts, about half a second of queue",
            "Janczukowicz 2017 § 6.3.6, Table 6.4",
            |situation| at_lines(situation, ared),
        ),
        queue(
            "codel",
            "CoDel for all packets together",
            "RFC 8289; Janczukowicz 2017 § 5.4.2",
            "codel",
        ),
        queue(
            "fq_codel",
            "CoDel for each flow, flows in turn",
            "RFC 8290; Janczukowicz 2017 § 7.6.1 (neutral)",
            "fq_codel",
        ),
        queue("pie", "PIE for all packets together", "RFC 8033; Janczukowicz 2017 § 5.4.2", "pie"),
        queue("dualpi2", "DualPI2: PI2 beside a queue for scalable flows", "RFC 9332", "dualpi2"),
        Remedy::new(
            ("cake", Kind::Queue),
            "CAKE at 95 % of the line: each host and flow its share",
            "tc-cake(8); Høiland-Jørgensen et al. 2018",
            |situation| at_lines(situation, |line| cake(line, "besteffort")),
        ),
    ]
}

/// A queue of these words at every line of one's own.
pub(super) fn at_lines(
    situation: &Situation,
    words: impl Fn(&Line) -> Result<String, Unfit>,
) -> Result<Edits, Unfit> {
    if situation.lines.is_empty() {
        let reason = match &situation.advise.lines {
            Some(_) => "no gateway of one's own: advise.lines is empty",
            None => "the call passes no wired line with a rate",
        };
        return Err(Unfit(reason.to_owned()));
    }
    let set = |line: &Line| Ok((format!("{}.queue", line.path), words(line)?));
    let lines = situation.lines.iter().map(|line| line.name.clone()).collect();
    Ok(Edits { set: situation.lines.iter().map(set).collect::<Result<_, _>>()?, lines })
}

/// The rate of a line, which a queue that counts on it needs.
pub(super) fn rate(line: &Line) -> Result<Bitrate, Unfit> {
    line.rate.ok_or_else(|| {
        Unfit(format!("the rate of {} changes, and the queue is made for one", line.name))
    })
}

/// A buffer that is shorter already stays so.
fn short_buffer(line: &Line) -> Result<String, Unfit> {
    let short = Duration::from_millis(128);
    let own = line.rate.and_then(|rate| Some((line.queue.buffer(Some(rate))?, rate)));
    match own {
        Some((own, rate)) if own <= rate.bytes_in(short) => {
            Err(Unfit(format!("the buffer of {} is as short already: {own}", line.name)))
        }
        _ => Ok(format!("droptail limit {short}")),
    }
}

/// The thesis' own for 1 Mbit/s (Table 6.4: min 60560, max 181680, limit 726720), as long in time
/// at the line's rate, and of four packets at least.
fn ared(line: &Line) -> Result<String, Unfit> {
    let rate = rate(line)?;
    if rate > SLOW {
        let reason = "is fast, and the thesis has it for ADSL: half a second of queue";
        return Err(Unfit(format!("{} {reason}", line.name)));
    }
    let lasting = |bytes: u64| {
        let at_a_megabit = Duration::from_micros(8 * bytes);
        rate.bytes_in(at_a_megabit).get().max(4 * PACKET.get())
    };
    let (min, max, limit) = (lasting(60_560), lasting(181_680), lasting(726_720));
    // tc-red(8): (2·min + max) / (3·avpkt), rounded up.
    let burst = (2 * min + max).div_ceil(3 * PACKET.get());
    let packet = PACKET.get();
    Ok(format!(
        "red limit {limit}B min {min}B max {max}B avpkt {packet}B burst {burst} bandwidth {rate} adaptive harddrop"
    ))
}

/// CAKE a little below the line, so that the queue is its own and not the modem's (tc-cake(8),
/// 'bandwidth').
pub(super) fn cake(line: &Line, priority: &str) -> Result<String, Unfit> {
    let bandwidth = rate(line)?.scale(0.95);
    Ok(format!("cake bandwidth {bandwidth} {priority}"))
}

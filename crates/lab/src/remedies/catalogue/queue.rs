//! Another queue at the user's own lines.

use super::{Edits, Remedy, RemedyKind, Unfit};
use crate::remedies::Situation;
use crate::remedies::situation::LimitedLine;
use experiment::shaped;
use net::QueueConfig;
use units::{Bitrate, Bytes, Duration};

/// The highest rate of a line that counts as ADSL. An ADSL uplink has at most 3.3 Mbit/s (ITU-T
/// G.992.5 annex M). Our choice, with a margin.
const MAX_ADSL_RATE: Bitrate = Bitrate::from_mbps(10);
/// The size of an Ethernet frame, as the queueing discipline red of tc counts it (Janczukowicz
/// 2017, Table 6.4: avpkt 1514).
const PACKET: Bytes = Bytes::new(1514);

pub(super) fn remedies() -> Vec<Remedy> {
    let queue = |name, about, source, text: &'static str| {
        Remedy::new((name, RemedyKind::Queue), about, source, move |situation: &Situation| {
            at_lines(situation, |_| Ok(text.to_owned()))
        })
    };
    vec![
        Remedy::new(
            ("short-buffer", RemedyKind::Queue),
            "droptail, 128 ms at the rate of the line",
            "Janczukowicz 2017, Table 6.2 (16 kB at 1 Mbit/s)",
            |situation| at_lines(situation, short_buffer),
        ),
        queue(
            "sfq",
            "SFQ: one FIFO per flow, served in turn",
            "Janczukowicz 2017 § 5.4.1",
            "sfq perturb 10",
        ),
        Remedy::new(
            ("ared", RemedyKind::Queue),
            "adaptive RED with about 0.5 s of queue",
            "Janczukowicz 2017 § 6.3.6, Table 6.4",
            |situation| at_lines(situation, ared),
        ),
        queue(
            "codel",
            "CoDel: one queue for all packets",
            "RFC 8289; Janczukowicz 2017 § 5.4.2",
            "codel",
        ),
        queue(
            "fq_codel",
            "FQ-CoDel: one CoDel queue per flow, served in turn",
            "RFC 8290; Janczukowicz 2017 § 7.6.1 (neutral)",
            "fq_codel",
        ),
        queue(
            "pie",
            "PIE: one queue for all packets",
            "RFC 8033; Janczukowicz 2017 § 5.4.2",
            "pie",
        ),
        queue(
            "dualpi2",
            "DualPI2: PI2, and a separate queue for scalable (L4S) flows",
            "RFC 9332",
            "dualpi2",
        ),
        Remedy::new(
            ("cake", RemedyKind::Queue),
            "CAKE at a share of the rate of the line, fair by host and flow",
            "tc-cake(8); Høiland-Jørgensen et al. 2018",
            |situation| at_lines(situation, |line| cake(line, "besteffort")),
        ),
    ]
}

/// Sets the queue of each of the user's own lines. Behind a modem the queue is in front of the
/// modem's, which remains, and shapes.
pub(super) fn at_lines(
    situation: &Situation,
    words: impl Fn(&LimitedLine) -> Result<String, Unfit>,
) -> Result<Edits, Unfit> {
    if situation.lines.is_empty() {
        return Err(match &situation.advise.lines {
            Some(_) => Unfit::NoOwnLine,
            None => Unfit::NoWiredLine,
        });
    }
    let set = |line: &LimitedLine| {
        let (key, words) = match line.behind_modem {
            true => ("shaper", shaping(line, &words(line)?)?),
            false => ("queue", words(line)?),
        };
        Ok::<_, Unfit>((format!("{}.{key}", line.path), words))
    };
    let lines = situation.lines.iter().map(|line| line.name.clone()).collect();
    Ok(Edits { set: situation.lines.iter().map(set).collect::<Result<_, _>>()?, lines })
}

/// The queue in these words at the rate of the line's shaper: itself if it shapes, otherwise in an
/// HTB class.
fn shaping(line: &LimitedLine, words: &str) -> Result<String, Unfit> {
    let queue: QueueConfig = words.parse()?;
    Ok(if queue.shapes() { words.to_owned() } else { shaped(rate(line)?, &queue) })
}

/// The constant rate of a line.
///
/// # Errors
/// If the rate changes.
pub(super) fn rate(line: &LimitedLine) -> Result<Bitrate, Unfit> {
    line.rate.ok_or_else(|| Unfit::VariableRate(line.name.clone()))
}

/// A droptail buffer of 128 ms. A shorter buffer is not made longer.
fn short_buffer(line: &LimitedLine) -> Result<String, Unfit> {
    let short = Duration::from_millis(128);
    let own = line.rate.and_then(|rate| Some((line.queue.buffer(Some(rate))?, rate)));
    match own {
        Some((own, rate)) if own <= rate.bytes_in(short) => {
            Err(Unfit::ShortBuffer { line: line.name.clone(), size: own })
        }
        _ => Ok(format!("droptail limit {short}")),
    }
}

/// The parameters of the thesis for 1 Mbit/s (Table 6.4: min 60560, max 181680, limit 726720),
/// scaled to the rate of the line, with at least four packets.
fn ared(line: &LimitedLine) -> Result<String, Unfit> {
    let rate = rate(line)?;
    if rate > MAX_ADSL_RATE {
        return Err(Unfit::FastLine(line.name.clone()));
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

/// CAKE at `advise.share` of the rate of the line, so that the queue forms in CAKE and not in the
/// modem (tc-cake(8), 'bandwidth').
pub(super) fn cake(line: &LimitedLine, priority: &str) -> Result<String, Unfit> {
    let bandwidth = line.shaped.ok_or_else(|| Unfit::VariableRate(line.name.clone()))?;
    Ok(format!("cake bandwidth {bandwidth} {priority}"))
}

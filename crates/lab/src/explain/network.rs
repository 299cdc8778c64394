//! A network fitted to a recorded call, as an experiment file.

use super::{Cause, Explanation, STEP};
use std::fmt::Write;

/// A capacity that differs by more than this from that of the segment begins a new one: the
/// acceptance of the fit is 10 %. Our choice.
const CHANGE: f64 = 0.12;
/// Steps that must agree on a change. Our choice.
const AGREE: usize = 3;
/// A capacity that was not reached: the line has this in place of the rate that was seen, so that
/// it does not limit the call. Our choice.
const UNSEEN: f64 = 2.0;
/// The buffer of a line on which no packet was lost at the longest queue, s, if the queue was
/// shorter: home gateways have some hundred milliseconds (RFC 8290 § 1 names buffers as large as
/// seconds). Our choice.
const LEAST_BUFFER: f64 = 0.3;

/// The capacity of the line in each step, with IP and UDP, bit/s; not-a-number before the first
/// step in which it was seen. The share that a rival left says nothing.
#[must_use]
pub(super) fn capacity(explanation: &Explanation) -> Vec<f64> {
    let seen: Vec<f64> = (0..explanation.signals.len)
        .map(|step| {
            let found = |cause| {
                let of = explanation.findings.iter().filter(|finding| finding.cause == cause);
                of.into_iter().any(|one| (one.steps.0..one.steps.1).contains(&step))
            };
            if found(Cause::Rival) || found(Cause::Outage) {
                f64::NAN
            } else {
                explanation.path.share[step]
            }
        })
        .collect();
    let mut fitted = vec![f64::NAN; seen.len()];
    let mut begin = 0;
    while let Some(end) = segment(&seen, begin) {
        let rate = super::Signals::quantile(&seen, begin, end, 0.5);
        fitted[begin..end].fill(rate);
        begin = end;
    }
    // Before the first and where nothing is known, the nearest known one holds.
    let mut before = fitted.iter().copied().find(|rate| rate.is_finite()).unwrap_or(f64::NAN);
    for rate in &mut fitted {
        if rate.is_finite() {
            before = *rate;
        }
        *rate = before;
    }
    fitted
}

/// The end of the segment that begins with a step; `None` after the last step.
fn segment(seen: &[f64], begin: usize) -> Option<usize> {
    if begin >= seen.len() {
        return None;
    }
    let known: Vec<usize> = (begin..seen.len()).filter(|step| seen[*step].is_finite()).collect();
    for (index, &step) in known.iter().enumerate().skip(AGREE) {
        let before: Vec<f64> = known[..index].iter().map(|step| seen[*step]).collect();
        let rate = super::Signals::quantile(&before, 0, before.len(), 0.5);
        let next = known[index..].iter().take(AGREE);
        let differ = next.clone().filter(|step| (seen[**step] / rate - 1.0).abs() > CHANGE).count();
        let above = next.clone().filter(|step| seen[**step] > rate).count();
        if next.len() == AGREE && differ == AGREE && (above == 0 || above == AGREE) {
            return Some(step);
        }
    }
    Some(seen.len())
}

/// An experiment in which a call with this controller crosses the fitted network, from a sender
/// like today's Chromium if `today`. The comments say what is certain.
#[must_use]
pub fn network(explanation: &Explanation, controller: &str, today: bool) -> String {
    let Explanation { signals, path, .. } = explanation;
    let seconds = signals.len as f64 * STEP;
    let mut text =
        format!("title = \"Network fitted to a recorded call\"\nduration = \"{seconds:.0}s\"\n");
    if today {
        text.push_str(
            "# The call as today's Chromium makes it, with gcc:libwebrtc. To compare controllers, write \
             false.\ntoday = true\n",
        );
    }
    text.push_str("\n[host.local]\n");
    let rates = rates(explanation);
    let one_way = if path.base_rtt.is_finite() { path.base_rtt / 2.0 } else { 0.0 };
    let or_unknown = |rate: f64| {
        if rate.is_finite() { format!("{:.0} kbit/s", rate / 1e3) } else { "unknown".to_owned() }
    };
    let _ = writeln!(
        text,
        "# Capacity: quartiles {} to {}. Where the call built no queue, the nearest value holds.",
        or_unknown(path.quartiles.0),
        or_unknown(path.quartiles.1)
    );
    let values: Vec<String> = rates
        .iter()
        .map(|(at, rate)| format!("{{ at = \"{at:.0}s\", value = \"{rate:.0}bit/s\" }}"))
        .collect();
    let _ = writeln!(text, "up.rate = [{}]", values.join(", "));
    let _ = writeln!(
        text,
        "# Half of the least round-trip time: nothing tells how it divides between the directions."
    );
    let _ = writeln!(text, "up.delay = \"{:.0}us\"", one_way * 1e6);
    // Where packets are lost at random, a loss says nothing about the buffer.
    let has_random_loss = explanation.has(Cause::Loss);
    let is_full = path.is_full && !has_random_loss;
    let buffer = path.buffer_delay.max(if is_full { 0.02 } else { LEAST_BUFFER });
    let buffer = if buffer.is_finite() { buffer } else { LEAST_BUFFER };
    let certainty = match (is_full, has_random_loss) {
        (true, _) => "packets were lost at",
        (false, false) => "at least; no packet was lost at",
        (false, true) => "at least; packets were lost at random, also at",
    };
    let _ = writeln!(text, "# Buffer: {certainty} {:.0} ms of queue.", path.buffer_delay * 1e3);
    let _ = writeln!(text, "up.queue = \"droptail limit {:.0}ms\"", buffer * 1e3);
    if has_random_loss {
        let _ = writeln!(text, "# Losses while no queue was there.");
        let _ = writeln!(text, "up.loss = \"{:.2}%\"", 100.0 * path.random_loss.clamp(0.0, 1.0));
    }
    let _ = write!(text, "\n[host.remote]\nup.delay = \"{:.0}us\"\n", one_way * 1e6);
    let most = super::Signals::quantile(&signals.sent, signals.begin, signals.len, 0.99);
    let _ = write!(
        text,
        "\n[call.main]\nfrom = \"local\"\nto = \"remote\"\ncontroller = \"{controller}\"\n"
    );
    if explanation.has(Cause::Application) && most > 0.0 {
        // Encoders need at least some rate; a video that was off stays at 50 kbit/s.
        let _ = writeln!(text, "# The application sent no more.");
        let _ = writeln!(text, "video = {{ max_rate = \"{:.0}bit/s\" }}", most.max(50_000.0));
    } else {
        text.push_str("video = true\n");
    }
    let rivals = explanation.findings.iter().filter(|finding| finding.cause == Cause::Rival);
    for (number, finding) in rivals.enumerate() {
        let (from, to) = finding.times();
        let number = number + 1;
        let _ = write!(
            text,
            "\n[tcp.rival{number}]\nfrom = \"local\"\nto = \"remote\"\nstart = \"{from:.0}s\"\nstop = \"{to:.0}s\"\n"
        );
    }
    text
}

/// The rate of the line from each time on.
fn rates(explanation: &Explanation) -> Vec<(f64, f64)> {
    let fitted = capacity(explanation);
    let signals = &explanation.signals;
    let most = super::Signals::quantile(&signals.carried, signals.begin, signals.len, 1.0);
    let unseen = if most > 0.0 { UNSEEN * most } else { 1e6 };
    let outages = explanation.findings.iter().filter(|one| one.cause == Cause::Outage);
    let outages: Vec<(usize, usize)> = outages.map(|finding| finding.steps).collect();
    let mut rates: Vec<(f64, f64)> = Vec::new();
    for (step, rate) in fitted.iter().enumerate() {
        let is_out = outages.iter().any(|(from, to)| (*from..*to).contains(&step));
        let rate = if is_out {
            0.0
        } else if rate.is_finite() {
            // A call that carried more shows that there was more.
            rate.max(signals.carried[step].min(unseen))
        } else {
            unseen
        };
        let rate = (rate / 1e3).round() * 1e3;
        let is_new = |last: &(f64, f64)| {
            (rate == 0.0) != (last.1 == 0.0) || (rate / last.1 - 1.0).abs() > CHANGE
        };
        if rates.last().is_none_or(is_new) {
            rates.push((step as f64 * STEP, rate));
        }
    }
    if rates.is_empty() {
        rates.push((0.0, unseen));
    }
    rates
}

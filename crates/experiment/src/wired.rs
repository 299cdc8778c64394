//! `up` and `down` of a host: the lines of a wired access.

use super::files::Files;
use super::schedule::read_schedule;
use super::values::parse_queue;
use document::{Fault, Node, Reader, Value, read as read_value};
use net::{JitterConfig, LineConfig, LossConfig, QueueConfig, RateConfig, Schedule, Trace};
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Ratio};

/// The least burst: an IP packet in an Ethernet frame.
const MIN_BURST: Bytes = Bytes::new(1_514);

/// One direction of a wired access, under `up` or `down`.
pub(super) fn read(node: &Node, path: &str, files: &Files) -> Result<LineConfig, Fault> {
    let mut table = Reader::new(node, path)?;
    let mut config = LineConfig::default();
    if let Some(node) = table.node("rate") {
        config.rate = rate(node, &table.path("rate"), files)?;
    }
    config.burst = table.optional("burst")?;
    if config.burst.is_some() && !matches!(config.rate, RateConfig::Scheduled(_)) {
        let reason = "a token bucket needs a rate";
        return Err(table.fault("burst", reason, "write 'rate' too, without a trace"));
    }
    if let Some(burst) = config.burst.filter(|&burst| burst < MIN_BURST) {
        let reason = format!("{burst} is smaller than a packet, so large ones would be lost");
        return Err(table.fault("burst", reason, format!("write at least {MIN_BURST}")));
    }
    if let Some(node) = table.node("delay") {
        config.delay = read_schedule(node, &table.path("delay"))?;
    }
    if let Some(node) = table.node("loss") {
        config.loss = loss(node, &table.path("loss"))?;
    }
    if let Some(node) = table.node("jitter") {
        config.jitter = jitter(node, &table.path("jitter"))?;
    }
    if let Some(words) = table.optional::<String>("queue")? {
        config.queue = parse_queue(&words).map_err(|problem| table.problem("queue", problem))?;
    }
    config.shaper = shaper(&mut table)?;
    config.overhead = table.or("overhead", Bytes::ZERO)?;
    let is_serial = config.burst.is_none() && !matches!(config.rate, RateConfig::Unlimited);
    if config.overhead > Bytes::ZERO && !is_serial {
        let reason = "only a line that sends one packet after the other has overhead";
        return Err(table.fault("overhead", reason, "write 'rate' too, without 'burst'"));
    }
    table.finish()?;
    Ok(config)
}

/// The shaper of another device.
fn shaper(table: &mut Reader<'_>) -> Result<Option<QueueConfig>, Fault> {
    let Some(words) = table.optional::<String>("shaper")? else { return Ok(None) };
    let queue = parse_queue(&words).map_err(|problem| table.problem("shaper", problem))?;
    if queue.shapes() {
        return Ok(Some(queue));
    }
    let reason = "the queue does not shape, so no packet waits in it but in the line behind it";
    let suggestion = "write a discipline with a rate below that of the line: cake bandwidth RATE, tbf rate RATE, or htb";
    Err(table.fault("shaper", reason, suggestion))
}

fn rate(node: &Node, path: &str, files: &Files) -> Result<RateConfig, Fault> {
    if matches!(node.value, Value::Table(_)) {
        return trace(node, path, files);
    }
    let schedule: Schedule<Bitrate> = read_schedule(node, path)?;
    if schedule.values().all(|rate| rate == Bitrate::ZERO) {
        let reason = "the rate is always 0, so no packet would ever arrive";
        return Err(Fault::new(
            node.location,
            path,
            reason,
            "write a rate above 0, or leave it out for unlimited",
        ));
    }
    Ok(RateConfig::Scheduled(schedule))
}

fn trace(node: &Node, path: &str, files: &Files) -> Result<RateConfig, Fault> {
    let mut table = Reader::new(node, path)?;
    let name: String = table.required("trace")?;
    table.finish()?;
    let fault = |reason: String| Fault::new(node.location, path, reason, "");
    let text = files.text(&name).map_err(|error| fault(error.to_string()))?;
    let trace = Trace::parse(&text).map_err(|error| fault(format!("{name}: {error}")))?;
    Ok(RateConfig::Trace(Arc::new(trace)))
}

/// A share over time, or bursts with the parameters of tc netem's `loss gemodel`.
fn loss(node: &Node, path: &str) -> Result<LossConfig, Fault> {
    if !matches!(node.value, Value::Table(_)) {
        return Ok(LossConfig::Bernoulli(read_schedule(node, path)?));
    }
    let mut table = Reader::new(node, path)?;
    let model: String = table.required("model")?;
    if model != "gilbert-elliott" {
        return Err(table.fault(
            "model",
            format!("there is no model '{model}'"),
            "write gilbert-elliott",
        ));
    }
    let (p, r) = (table.required("p")?, table.required("r")?);
    let bad_loss = table.or("bad_loss", Ratio::ONE)?;
    let good_loss = table.or("good_loss", Ratio::ZERO)?;
    table.finish()?;
    Ok(LossConfig::GilbertElliott { p, r, bad_loss, good_loss })
}

/// The maximum of a uniform jitter, or a distribution.
fn jitter(node: &Node, path: &str) -> Result<JitterConfig, Fault> {
    if !matches!(node.value, Value::Table(_)) {
        return Ok(JitterConfig::Uniform(read_value(node, path)?));
    }
    let mut table = Reader::new(node, path)?;
    let model: String = table.required("model")?;
    let config = match model.as_str() {
        "uniform" => JitterConfig::Uniform(table.required("most")?),
        "half-normal" => JitterConfig::HalfNormal {
            deviation: table.required("deviation")?,
            most: table.or("most", Duration::MAX)?,
        },
        "exponential" => JitterConfig::Exponential(table.required("mean")?),
        other => {
            let suggestion = "write uniform, half-normal or exponential";
            return Err(table.fault("model", format!("there is no model '{other}'"), suggestion));
        }
    };
    table.finish()?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    /// What happens to a line with this loss.
    fn with_loss(loss: &str) -> Result<Experiment, String> {
        let text = format!(
            "title = \"t\"\nduration = \"9s\"\n[host.a]\nup = {{ loss = {loss} }}\n[host.b]\n[call.c]\nfrom = \"a\"\nto = \"b\"\n"
        );
        Experiment::parse(&text, "x.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn a_shaper_must_shape_and_overhead_needs_a_serial_line() {
        let with = |keys: &str| {
            let text = format!(
                "title = \"t\"\nduration = \"9s\"\n[host.a]\nup = {{ {keys} }}\n[host.b]\n[call.c]\nfrom = \"a\"\nto = \"b\"\n"
            );
            Experiment::parse(&text, "x.toml").map(|_| ()).map_err(|error| error.to_string())
        };
        with("rate = \"1Mbit/s\", shaper = \"cake bandwidth 950kbit\", overhead = \"34B\"")
            .unwrap();
        for (keys, reason) in [
            ("rate = \"1Mbit/s\", shaper = \"fq_codel\"", "shaper: the queue does not shape"),
            ("overhead = \"34B\"", "overhead: only a line that sends one packet after the other"),
            (
                "rate = \"1Mbit/s\", burst = \"9kB\", overhead = \"34B\"",
                "overhead: only a line that sends one packet after the other",
            ),
        ] {
            let error = with(keys).unwrap_err();
            assert!(error.starts_with(&format!("x.toml:4: host.a.up.{reason}")), "{error}");
        }
    }

    #[test]
    fn a_share_in_quotes_needs_its_unit() {
        for loss in
            ["\"1%\"", "\"1 %\"", "\"100%\"", "0.01", "0", "1", "[{ at = \"0s\", value = \"5%\" }]"]
        {
            with_loss(loss).unwrap();
        }
        for (loss, reason) in [
            ("\"1\"", "\"1\" has no unit; write \"1%\" or 0.01"),
            ("\"0.05\"", "\"0.05\" has no unit; write \"5%\" or 0.05"),
            ("\"120\"", "'120' is not a share such as 5%, at most 100%"),
            ("\"5 s\"", "'5 s' is not a share such as 5%, at most 100%"),
            ("1.5", "'1.5' is not a share from 0 to 1 such as 0.05"),
        ] {
            assert_eq!(with_loss(loss).unwrap_err(), format!("x.toml:4: host.a.up.loss: {reason}"));
            let changing = with_loss(&format!("[{{ at = \"0s\", value = {loss} }}]"));
            assert!(changing.unwrap_err().ends_with(reason));
            let bursts = format!("{{ model = \"gilbert-elliott\", p = {loss}, r = \"30%\" }}");
            assert!(with_loss(&bursts).unwrap_err().ends_with(reason));
        }
    }
}

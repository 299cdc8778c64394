use super::files::Files;
use super::schedule::read_schedule;
use crate::document::{Fault, Node, Place, Reader, Value, read};
use net::{
    AccessConfig, HostConfig, JitterConfig, LineConfig, LossConfig, NetworkConfig, QueueConfig, RateConfig,
    Schedule, Trace,
};
use sim::tcp::Stack;
use std::sync::Arc;
use units::{Bitrate, Duration, Ratio};

/// The most hosts: a mesh of this size has four million paths.
const MAX_HOSTS: usize = 2_000;

/// The hosts of a document, in the order of the file: what joins them, and their TCP stacks.
pub(super) fn read_hosts(top: &mut Reader<'_>, files: &Files) -> Result<(NetworkConfig, Vec<Stack>), Fault> {
    let core_delay = match top.node("core_delay") {
        Some(node) => read_schedule(node, "core_delay")?,
        None => Schedule::constant(Duration::ZERO),
    };
    let entries = top.entries("host")?;
    if entries.len() < 2 || entries.len() > MAX_HOSTS {
        let reason = format!("{} hosts", entries.len());
        return Err(top.fault(
            "host",
            reason,
            format!("write 2 to {MAX_HOSTS} sections such as [host.alice]"),
        ));
    }
    let hosts = entries.into_iter().map(|(name, node)| host(name, node, files));
    let (hosts, stacks) = hosts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    Ok((NetworkConfig { hosts, core_delay, ..NetworkConfig::default() }, stacks))
}

fn host(name: &str, node: &Node, files: &Files) -> Result<(HostConfig, Stack), Fault> {
    let path = format!("host.{name}");
    check_name(node.place, &path, name)?;
    let mut table = Reader::new(node, &path)?;
    let mut direction = |key| match table.node(key) {
        Some(node) => line(node, &format!("{path}.{key}"), files),
        None => Ok(LineConfig::default()),
    };
    let (up, down) = (direction("up")?, direction("down")?);
    let stack = Stack { tsq: table.or("tsq", false)?, gso: table.or("gso", false)? };
    if stack.tsq && matches!(up.rate, RateConfig::Unlimited) && !up.queue.shapes() {
        let reason = "small queues without a queue: the way up has no rate";
        return Err(table.fault("tsq", reason, "give 'up' a rate, or leave tsq out"));
    }
    table.finish()?;
    Ok((HostConfig { name: name.to_owned(), access: AccessConfig::Wired { up, down } }, stack))
}

/// Names become parts of the records' names, which are split at dots.
pub(super) fn check_name(place: Place, path: &str, name: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(());
    }
    Err(Fault::new(place, path, format!("'{name}' is not a name"), "use letters, digits, - and _"))
}

fn line(node: &Node, path: &str, files: &Files) -> Result<LineConfig, Fault> {
    let mut table = Reader::new(node, path)?;
    let mut config = LineConfig::default();
    if let Some(node) = table.node("rate") {
        config.rate = rate(node, &table.path("rate"), files)?;
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
        config.queue =
            words.parse::<QueueConfig>().map_err(|error| table.fault("queue", error.to_string(), ""))?;
    }
    table.finish()?;
    Ok(config)
}

fn rate(node: &Node, path: &str, files: &Files) -> Result<RateConfig, Fault> {
    if matches!(node.value, Value::Table(_)) {
        return trace(node, path, files);
    }
    let schedule: Schedule<Bitrate> = read_schedule(node, path)?;
    if schedule.values().all(|rate| rate == Bitrate::ZERO) {
        let reason = "a rate of 0 means never: nothing would ever arrive";
        return Err(Fault::new(
            node.place,
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
    let fault = |reason: String| Fault::new(node.place, path, reason, "");
    let text = files.text(&name).map_err(fault)?;
    let trace = Trace::parse(&text).map_err(|error| fault(format!("{name}: {error}")))?;
    Ok(RateConfig::Trace(Arc::new(trace)))
}

/// A share over time, or bursts in the words of tc netem's `loss gemodel`.
fn loss(node: &Node, path: &str) -> Result<LossConfig, Fault> {
    if !matches!(node.value, Value::Table(_)) {
        return Ok(LossConfig::Bernoulli(read_schedule(node, path)?));
    }
    let mut table = Reader::new(node, path)?;
    let model: String = table.required("model")?;
    if model != "gilbert-elliott" {
        return Err(table.fault("model", format!("no model '{model}'"), "write gilbert-elliott"));
    }
    let (p, r) = (table.required("p")?, table.required("r")?);
    let bad_loss = table.or("bad_loss", Ratio::ONE)?;
    let good_loss = table.or("good_loss", Ratio::ZERO)?;
    table.finish()?;
    Ok(LossConfig::GilbertElliott { p, r, bad_loss, good_loss })
}

/// The most of a uniform jitter, or a distribution.
fn jitter(node: &Node, path: &str) -> Result<JitterConfig, Fault> {
    if !matches!(node.value, Value::Table(_)) {
        return Ok(JitterConfig::Uniform(read(node, path)?));
    }
    let mut table = Reader::new(node, path)?;
    let model: String = table.required("model")?;
    let config = match model.as_str() {
        "uniform" => JitterConfig::Uniform(table.required("most")?),
        "half-normal" => JitterConfig::HalfNormal(table.required("deviation")?),
        "exponential" => JitterConfig::Exponential(table.required("mean")?),
        other => {
            let mend = "write uniform, half-normal or exponential";
            return Err(table.fault("model", format!("no model '{other}'"), mend));
        }
    };
    table.finish()?;
    Ok(config)
}

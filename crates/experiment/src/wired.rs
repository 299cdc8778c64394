//! `up` and `down` of a host: the lines of a wired access.

use super::files::Files;
use super::schedule::read_schedule;
use super::values::parse_queue;
use document::{Fault, Node, Reader, Value, read as read_value};
use net::{JitterConfig, LineConfig, LossConfig, RateConfig, Schedule, Trace};
use std::sync::Arc;
use units::{Bitrate, Ratio};

/// One direction of a wired access, under `up` or `down`.
pub(super) fn read(node: &Node, path: &str, files: &Files) -> Result<LineConfig, Fault> {
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
        config.queue = parse_queue(&words).map_err(|problem| table.problem("queue", problem))?;
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
        "half-normal" => JitterConfig::HalfNormal(table.required("deviation")?),
        "exponential" => JitterConfig::Exponential(table.required("mean")?),
        other => {
            let suggestion = "write uniform, half-normal or exponential";
            return Err(table.fault("model", format!("there is no model '{other}'"), suggestion));
        }
    };
    table.finish()?;
    Ok(config)
}

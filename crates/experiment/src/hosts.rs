use super::files::Files;
use super::lte;
use super::schedule::read_schedule;
use super::wifi;
use super::words::parse_queue;
use document::{Fault, Location, Node, Reader, Value, read};
use net::{
    AccessConfig, Direction, HostConfig, JitterConfig, LineConfig, LossConfig, LteConfig,
    NetworkConfig, RateConfig, Schedule, Trace, WifiConfig,
};
use sim::tcp::TcpStack;
use std::sync::Arc;
use units::{Bitrate, Duration, Ratio};

/// The most hosts: a mesh of this size has four million paths.
pub(super) const MAX_HOSTS: usize = 2_000;

/// The hosts of a document, in the order of the file: what joins them, and their TCP stacks. Their
/// cells too.
pub(super) fn read_hosts(
    top: &mut Reader<'_>,
    files: &Files,
) -> Result<(NetworkConfig, Vec<TcpStack>), Fault> {
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
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    let cells =
        Cells { wifi: wifi::read_cells(top)?, lte: lte::read_networks(top, &names, files)? };
    let hosts = entries.into_iter().map(|(name, node)| host(name, node, &cells, files));
    let (hosts, stacks): (Vec<_>, Vec<_>) =
        hosts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    wifi::check_used(&cells.wifi, &hosts)?;
    lte::check_used(&cells.lte, &hosts)?;
    let wifi = cells.wifi.into_iter().map(|(cell, _)| cell).collect();
    let lte = cells.lte.into_iter().map(|(network, _)| network).collect();
    Ok((NetworkConfig { hosts, wifi, lte, core_delay }, stacks))
}

/// What hosts can be in, and where it was written.
struct Cells {
    wifi: Vec<(WifiConfig, Location)>,
    lte: Vec<(LteConfig, Location)>,
}

fn host(
    name: &str,
    node: &Node,
    cells: &Cells,
    files: &Files,
) -> Result<(HostConfig, TcpStack), Fault> {
    let path = format!("host.{name}");
    check_name(node.location, &path, name)?;
    let mut table = Reader::new(node, &path)?;
    let access = access(&mut table, cells, files)?;
    let stack = TcpStack { tsq: table.or("tsq", false)?, gso: table.or("gso", false)? };
    if stack.tsq && !access.is_limited(Direction::Up) {
        let reason = "small queues without a queue: the way up has no rate";
        return Err(table.fault("tsq", reason, "give 'up' a rate, or leave tsq out"));
    }
    table.finish()?;
    Ok((HostConfig { name: name.to_owned(), access }, stack))
}

/// A line each way, or a place in a cell.
fn access(table: &mut Reader<'_>, cells: &Cells, files: &Files) -> Result<AccessConfig, Fault> {
    let (up, down) = (table.node("up"), table.node("down"));
    let (wifi, lte) = (table.node("wifi"), table.node("lte"));
    for (key, by, given) in [("wifi", "Wi-Fi", wifi), ("lte", "LTE", lte)] {
        if given.is_some() && (up.is_some() || down.is_some()) {
            let suggestion = format!("leave out up and down, or {key}");
            return Err(table.fault(
                key,
                format!("a host has one access: by {by}, or by lines"),
                suggestion,
            ));
        }
    }
    match (wifi, lte) {
        (Some(_), Some(_)) => {
            let suggestion = "leave out one of them";
            return Err(table.fault(
                "lte",
                "a host has one access: by LTE, or by Wi-Fi",
                suggestion,
            ));
        }
        (Some(node), None) => {
            return Ok(AccessConfig::Wifi(wifi::read_station(
                node,
                &table.path("wifi"),
                &cells.wifi,
            )?));
        }
        (None, Some(node)) => {
            return Ok(AccessConfig::Lte(lte::read_terminal(
                node,
                &table.path("lte"),
                &cells.lte,
            )?));
        }
        (None, None) => {}
    }
    let direction = |node: Option<&Node>, key| match node {
        Some(node) => line(node, &table.path(key), files),
        None => Ok(LineConfig::default()),
    };
    Ok(AccessConfig::Wired { up: direction(up, "up")?, down: direction(down, "down")? })
}

/// Names become parts of the records' names, which are split at dots.
pub(super) fn check_name(location: Location, path: &str, name: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(());
    }
    Err(Fault::new(
        location,
        path,
        format!("'{name}' is not a name"),
        "use letters, digits, - and _",
    ))
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
        config.queue = parse_queue(&words)
            .map_err(|(reason, suggestion)| table.fault("queue", reason, suggestion))?;
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
            let suggestion = "write uniform, half-normal or exponential";
            return Err(table.fault("model", format!("no model '{other}'"), suggestion));
        }
    };
    table.finish()?;
    Ok(config)
}

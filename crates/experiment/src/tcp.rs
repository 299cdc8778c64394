use super::name::check_name;
use super::traffic;
use super::values::positive;
use document::{Fault, FromNode, Node, Problem, Reader, Table, Value, read as read_value};
use net::NetworkConfig;
use sim::tcp::{
    MAX_SEGMENT, Reading, TcpApplication, TcpConfig, TcpCongestionControl, TcpPages, TcpSource,
    TimerFrequency,
};
use std::collections::BTreeSet;
use std::fmt::Display;
use units::{Bytes, Duration};

/// The default receive window: half of Linux's largest receive buffer (`net.ipv4.tcp_rmem`, 6 MB),
/// at which auto-tuning ends. The other half is overhead (`tcp_adv_win_scale`).
const RECEIVE_WINDOW: Bytes = Bytes::new(3 << 20);
/// The maximum of `flows` in a section.
const MAX_FLOWS: u32 = 1_000;

/// The TCP flows of a document, in the order of the file, and the path of each flow's section.
/// Missing keys are taken from `[defaults.tcp]`.
pub(super) fn read(
    top: &mut Reader<'_>,
    defaults: &Table,
    network: &NetworkConfig,
    duration: Duration,
) -> Result<(Vec<TcpConfig>, Vec<String>), Fault> {
    let (mut flows, mut paths, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (name, node) in top.entries("tcp")? {
        let path = format!("tcp.{name}");
        check_name(node.location, &path, name)?;
        let mut node = node.clone();
        if let Value::Table(table) = &mut node.value {
            table.merge_defaults(defaults);
        }
        for flow in section(name, &node, network, duration)? {
            if !names.insert(flow.name.clone()) {
                let reason = format!("there are two flows called '{}'", flow.name);
                return Err(Fault::new(node.location, path, reason, "rename one of them"));
            }
            flows.push(flow);
            paths.push(path.clone());
        }
    }
    Ok((flows, paths))
}

/// `[tcp.NAME]`: one flow, or with `flows` several called `NAME-1`, `NAME-2`, ….
fn section(
    name: &str,
    node: &Node,
    network: &NetworkConfig,
    duration: Duration,
) -> Result<Vec<TcpConfig>, Fault> {
    let mut table = Reader::new(node, &format!("tcp.{name}"))?;
    let (from, to) = traffic::from_and_to(&mut table, network, "flow")?;
    let (start, stop) = traffic::start_and_stop(&mut table, duration, "flow")?;
    let application = application(&mut table)?;
    let congestion_control = congestion_control(&mut table)?;
    let receive_window = table.or("receive_window", RECEIVE_WINDOW)?;
    if receive_window < MAX_SEGMENT {
        let reason = format!("{receive_window} is less than one segment, so nothing could be sent");
        return Err(table.fault("receive_window", reason, format!("write {MAX_SEGMENT} or more")));
    }
    let (ecn, dscp) = (table.or("ecn", false)?, traffic::dscp(&mut table, "dscp")?);
    let hz = timer_frequency(&mut table)?;
    let count = table.or("flows", 1)?;
    if !(1..=MAX_FLOWS).contains(&count) {
        return Err(table.fault(
            "flows",
            format!("{count} is out of range"),
            format!("write 1 to {MAX_FLOWS}"),
        ));
    }
    table.finish()?;
    let name_of = |number| if count == 1 { name.to_owned() } else { format!("{name}-{number}") };
    let flow = |number| TcpConfig {
        name: name_of(number),
        from,
        to,
        start,
        stop,
        application,
        congestion_control,
        receive_window,
        ecn,
        dscp,
        hz,
    };
    Ok((1..=count).map(flow).collect())
}

/// The timer frequency under `hz`.
fn timer_frequency(table: &mut Reader<'_>) -> Result<TimerFrequency, Fault> {
    let Some(hz) = table.optional::<u32>("hz")? else { return Ok(TimerFrequency::default()) };
    let known = TimerFrequency::ALL.into_iter().find(|(frequency, _)| *frequency == hz);
    known.map(|(_, frequency)| frequency).ok_or_else(|| {
        let reason = format!("{hz} Hz is not a timer frequency of Linux that Weir models");
        table.fault("hz", reason, "write 100, 250 or 1000")
    })
}

/// The web pages under `pages`, or the stream that [`source`] reads.
fn application(table: &mut Reader<'_>) -> Result<TcpApplication, Fault> {
    let count: Option<u32> = table.optional("pages")?;
    let size = page_size(table)?;
    let reading = reading(table)?;
    let reads_first: Option<bool> = table.optional("reads_first")?;
    let source = source(table)?;
    let Some(count) = count else {
        let keys = [
            ("page_size", size.is_some()),
            ("reading", reading.is_some()),
            ("reads_first", reads_first.is_some()),
        ];
        if let Some(key) = keys.iter().find(|key| key.1) {
            return Err(table.fault(key.0, "it needs pages", "add for example pages = 20"));
        }
        return Ok(source.into());
    };
    positive(table, "pages", count > 0)?;
    if source != TcpSource::Endless {
        let suggestion = "write pages, or bytes, or on and off";
        return Err(table.fault("pages", "pages excludes bytes, on and off", suggestion));
    }
    let size = match size {
        Some(size) => size,
        None => table.required("page_size").map(|size: Bytes| (size, size))?,
    };
    positive(table, "page_size", size.0 > Bytes::ZERO)?;
    let reading = reading.unwrap_or(Reading::Uniform(Duration::ZERO, Duration::ZERO));
    let reads_first = reads_first.unwrap_or(false);
    Ok(TcpApplication::Pages(TcpPages { count, size, reading, reads_first }))
}

/// The size under `page_size`, or the minimum and the maximum.
fn page_size(table: &mut Reader<'_>) -> Result<Option<(Bytes, Bytes)>, Fault> {
    if let Some(Node { value: Value::List(_), .. }) = table.node("page_size") {
        return limits(table, "page_size", "[\"30kB\", \"50kB\"]");
    }
    Ok(table.optional("page_size")?.map(|size| (size, size)))
}

/// The minimum and the maximum under `reading`, or the mean of an exponential distribution.
fn reading(table: &mut Reader<'_>) -> Result<Option<Reading>, Fault> {
    let path = table.path("reading");
    if let Some(node @ Node { value: Value::Table(_), .. }) = table.node("reading") {
        let mut table = Reader::new(node, &path)?;
        let mean: Duration = table.required("mean")?;
        positive(&table, "mean", mean > Duration::ZERO)?;
        table.finish()?;
        return Ok(Some(Reading::Exponential(mean)));
    }
    let limits = limits(table, "reading", "[\"2s\", \"20s\"]")?;
    Ok(limits.map(|(least, most)| Reading::Uniform(least, most)))
}

/// The minimum and the maximum in the list under `key`, for example `example`.
fn limits<T: FromNode + PartialOrd + Display>(
    table: &mut Reader<'_>,
    key: &'static str,
    example: &str,
) -> Result<Option<(T, T)>, Fault> {
    let path = table.path(key);
    let Some(items) = table.items(key)? else { return Ok(None) };
    let [least, most] = items else {
        let reason = format!("{} values", items.len());
        return Err(table.fault(
            key,
            reason,
            format!("write the minimum and the maximum, {example}"),
        ));
    };
    let (least, most): (T, T) = (read_value(least, &path)?, read_value(most, &path)?);
    if least > most {
        let reason = format!("{least} is more than {most}");
        return Err(table.fault(key, reason, "write the lesser value first"));
    }
    Ok(Some((least, most)))
}

/// The data that is sent: `bytes`, `on` with `off`, or unlimited.
pub(super) fn source(table: &mut Reader<'_>) -> Result<TcpSource, Fault> {
    let bytes: Option<Bytes> = table.optional("bytes")?;
    let (on, off): (Option<Duration>, Option<Duration>) =
        (table.optional("on")?, table.optional("off")?);
    for (key, zero) in [
        ("bytes", bytes == Some(Bytes::ZERO)),
        ("on", on == Some(Duration::ZERO)),
        ("off", off == Some(Duration::ZERO)),
    ] {
        positive(table, key, !zero)?;
    }
    match (bytes, on, off) {
        (None, None, None) => Ok(TcpSource::Endless),
        (Some(bytes), None, None) => Ok(TcpSource::Finite(bytes)),
        (None, Some(on), Some(off)) => Ok(TcpSource::OnOff { on, off }),
        (Some(_), ..) => {
            Err(table.fault("bytes", "bytes excludes on and off", "write bytes, or on and off"))
        }
        (None, Some(_), None) => {
            Err(table.fault("on", "on needs off", "add the pause, for example off = \"5s\""))
        }
        (None, None, Some(_)) => {
            Err(table.fault("off", "off needs on", "add the sending time, for example on = \"5s\""))
        }
    }
}

fn congestion_control(table: &mut Reader<'_>) -> Result<TcpCongestionControl, Fault> {
    let Some(word) = table.optional::<String>("congestion_control")? else {
        return Ok(Default::default());
    };
    word.parse().map_err(|_| {
        let names = TcpCongestionControl::ALL.into_iter().map(|(name, _)| name);
        let problem = Problem::unknown("congestion control", &word, names, "there are");
        table.problem("congestion_control", problem)
    })
}

//! Writes a tree of disciplines as `tc` commands.

use super::super::QueueConfig;
use super::super::filter::{Field, Filter};
use std::fmt::Write;

/// The commands; the disciplines are numbered from 1.
pub(in super::super) fn write(config: &QueueConfig, dev: &str) -> String {
    let mut writer = Writer { dev, replaces: false, majors: 0, text: String::new() };
    writer.qdisc(config, "root");
    writer.finish()
}

/// The commands for a device that has disciplines already: they replace what is there, however
/// often they are run, and draw no warning of the kernel. Filters for IPv4 that name no address
/// stand for IPv6 too.
pub(in super::super) fn write_gateway(config: &QueueConfig, dev: &str) -> String {
    let mut writer = Writer { dev, replaces: true, majors: 0, text: String::new() };
    let has_children = match config {
        QueueConfig::Htb(_) => true,
        QueueConfig::Tbf(tbf) => tbf.child.is_some(),
        _ => false,
    };
    match config {
        _ if has_children => {
            // Removes a tree that is there, whose classes would be in the way. Fails on no device.
            writer.command("qdisc replace", format_args!("root pfifo"));
            let tree = for_gateway(config);
            writer.qdisc(&tree, "root");
        }
        // Without a handle, because a handle that is there with another discipline is refused.
        single => writer.command("qdisc replace", format_args!("root {single}")),
    }
    writer.finish()
}

/// The tree with the quantum of each HTB class written out as the kernel computes it (it warns of
/// what it clamps, Linux `net/sched/sch_htb.c`, `htb_change_class`), and with filters for IPv6.
fn for_gateway(config: &QueueConfig) -> QueueConfig {
    let mut config = config.clone();
    match &mut config {
        QueueConfig::Htb(htb) => {
            add_ipv6(&mut htb.filters);
            for class in &mut htb.classes {
                class.quantum = Some(class.quantum(htb.r2q));
                add_ipv6(&mut class.filters);
                if let Some(leaf) = &mut class.leaf {
                    *leaf = for_gateway(leaf);
                }
            }
        }
        QueueConfig::Tbf(tbf) => {
            if let Some(child) = &mut tbf.child {
                *child = for_gateway(child);
            }
        }
        _ => {}
    }
    config
}

/// Adds to each filter for IPv4 without addresses the same for IPv6, unless there are filters for
/// IPv6. Filters of one priority have one protocol (Linux `net/sched/cls_api.c`), so these come
/// after all others.
fn add_ipv6(filters: &mut Vec<Filter>) {
    if filters.iter().any(|filter| filter.ipv6 != Some(false)) {
        return;
    }
    let last = filters.iter().map(|filter| filter.prio).max().unwrap_or_default();
    let address = |filter: &Filter| {
        filter.matches.iter().any(|one| matches!(one.field, Field::Src | Field::Dst))
    };
    let twins = filters.iter().filter(|filter| !address(filter)).map(|filter| Filter {
        prio: last.saturating_add(filter.prio),
        ipv6: Some(true),
        ..filter.clone()
    });
    let twins: Vec<Filter> = twins.collect();
    filters.extend(twins);
}

struct Writer<'a> {
    dev: &'a str,
    /// Whether the discipline at the root replaces another.
    replaces: bool,
    majors: u16,
    text: String,
}

impl Writer<'_> {
    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    fn line(&mut self, object: &str, rest: std::fmt::Arguments<'_>) {
        // The first discipline is at the root.
        let replaces = self.replaces && object == "qdisc" && self.majors == 1;
        self.command(&format!("{object} {}", if replaces { "replace" } else { "add" }), rest);
    }

    /// `tc WHAT dev DEV REST`.
    fn command(&mut self, what: &str, rest: std::fmt::Arguments<'_>) {
        let dev = self.dev;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "tc {what} dev {dev} {rest}");
    }

    fn qdisc(&mut self, config: &QueueConfig, at: &str) {
        self.majors += 1;
        let major = self.majors;
        match config {
            QueueConfig::Htb(htb) => {
                self.line("qdisc", format_args!("{at} handle {major:x}: {htb}"));
                for class in &htb.classes {
                    let parent = class.parent.map(|minor| format!("{minor:x}")).unwrap_or_default();
                    let minor = class.minor;
                    self.line(
                        "class",
                        format_args!(
                            "parent {major:x}:{parent} classid {major:x}:{minor:x} {class}"
                        ),
                    );
                }
                self.filters(major, "", &htb.filters);
                for class in &htb.classes {
                    self.filters(major, &format!("{:x}", class.minor), &class.filters);
                    if let Some(leaf) = &class.leaf {
                        self.qdisc(leaf, &format!("parent {major:x}:{:x}", class.minor));
                    }
                }
            }
            QueueConfig::Tbf(tbf) => {
                self.line("qdisc", format_args!("{at} handle {major:x}: {tbf}"));
                if let Some(child) = &tbf.child {
                    self.qdisc(child, &format!("parent {major:x}:1"));
                }
            }
            other => self.line("qdisc", format_args!("{at} handle {major:x}: {other}")),
        }
    }

    fn filters(&mut self, major: u16, minor: &str, filters: &[Filter]) {
        for filter in filters {
            let protocol = match filter.ipv6 {
                None => "all",
                Some(false) => "ip",
                Some(true) => "ipv6",
            };
            let (prio, class) = (filter.prio, filter.class);
            self.line(
                "filter",
                format_args!("parent {major:x}:{minor} protocol {protocol} prio {prio} {filter} flowid {major:x}:{class:x}"),
            );
        }
    }
}

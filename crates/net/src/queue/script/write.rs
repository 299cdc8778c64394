//! Writes a tree of disciplines as `tc` commands.

use super::super::QueueConfig;
use super::super::filter::Filter;
use std::fmt::Write;

/// The commands; the disciplines are numbered from 1.
pub(in super::super) fn write(config: &QueueConfig, dev: &str) -> String {
    let mut writer = Writer { dev, majors: 0, text: String::new() };
    writer.qdisc(config, "root");
    writer.text.truncate(writer.text.trim_end().len());
    writer.text
}

struct Writer<'a> {
    dev: &'a str,
    majors: u16,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, object: &str, rest: std::fmt::Arguments<'_>) {
        let dev = self.dev;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "tc {object} add dev {dev} {rest}");
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

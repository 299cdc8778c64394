//! Builds the tree of disciplines from the commands of a script.

use super::super::QueueConfig;
use super::super::error::QueueConfigError;
use super::super::filter::{self, Filter};
use super::super::htb::{CLASS_USAGE, HtbClass, HtbConfig, MAX_DEPTH, USAGE};
use super::super::tc_units::{Printed, UnitSystem};
use super::super::words::Words;
use super::statement::{Handle, Object, Statement};

/// The prio of the first filter without one. Each later one gets the prio before the lowest one
/// from `AUTO_FROM` on (Linux `tcf_auto_prio`, `tc_new_tfilter`).
const AUTO_PRIO: u16 = 0xc000;
const AUTO_FROM: u16 = 0x8000;

/// The disciplines so far, parents before their children.
#[derive(Default)]
pub(super) struct Tree {
    dev: String,
    qdiscs: Vec<Qdisc>,
}

struct Qdisc {
    line: usize,
    major: Option<u16>,
    /// The index of the discipline that holds it, and the class there.
    parent: Option<(usize, u16)>,
    config: QueueConfig,
}

fn wrong<T>(reason: String) -> Result<T, QueueConfigError> {
    Err(QueueConfigError::new(reason))
}

impl Tree {
    pub(super) fn is_empty(&self) -> bool {
        self.qdiscs.is_empty()
    }

    pub(super) fn add(
        &mut self,
        line: usize,
        statement: &Statement<'_>,
    ) -> Result<(), QueueConfigError> {
        if self.is_empty() {
            statement.dev.clone_into(&mut self.dev);
        }
        if statement.dev != self.dev {
            let (first, other) = (&self.dev, statement.dev);
            return wrong(format!(
                "dev {other}: the queue belongs to {first}; write the commands for {other} in a separate queue"
            ));
        }
        match statement.object {
            Object::Qdisc => self.qdisc(line, statement),
            Object::Class => self.class(statement),
            Object::Filter => self.filter(statement),
        }
    }

    fn qdisc(&mut self, line: usize, statement: &Statement<'_>) -> Result<(), QueueConfigError> {
        let parent = match (statement.root, statement.parent) {
            (true, None) => {
                if statement.replace {
                    self.qdiscs.clear();
                }
                if let Some(root) = self.qdiscs.first() {
                    return wrong(format!(
                        "there is a root already, in line {}; write 'parent …'",
                        root.line
                    ));
                }
                None
            }
            (false, Some(parent)) => Some(self.slot_for(parent)?),
            _ => return wrong("either 'root' or 'parent' is needed".to_owned()),
        };
        let major = statement.handle.map(|handle| handle.major).filter(|&major| major != 0);
        if let Some(twin) = self.qdiscs.iter().find(|one| major.is_some() && one.major == major) {
            return wrong(format!(
                "handle {:x}: is in use since line {}; take another",
                major.unwrap_or(0),
                twin.line
            ));
        }
        let config = match statement.words {
            ["htb", ..] => HtbConfig::read(Words::new(statement.words, UnitSystem::Tc, USAGE))
                .map(|config| QueueConfig::Htb(Box::new(config)))?,
            words => QueueConfig::read(words, UnitSystem::Tc)?,
        };
        self.qdiscs.push(Qdisc { line, major, parent, config });
        Ok(())
    }

    /// The index of the discipline with this handle.
    fn holder(&self, handle: Handle) -> Result<usize, QueueConfigError> {
        let index = self.qdiscs.iter().position(|one| one.major == Some(handle.major));
        index.map_or_else(
            || {
                wrong(format!(
                    "there is no qdisc {:x}: above; add it first, with 'handle {:x}:'",
                    handle.major, handle.major
                ))
            },
            Ok,
        )
    }

    fn htb(&mut self, handle: Handle) -> Result<&mut HtbConfig, QueueConfigError> {
        let index = self.holder(handle)?;
        match &mut self.qdiscs[index].config {
            QueueConfig::Htb(htb) => Ok(htb),
            other => wrong(format!("qdisc {:x}: is '{other}', which has no classes", handle.major)),
        }
    }

    /// The discipline and class that a new child goes into.
    fn slot_for(&self, parent: Handle) -> Result<(usize, u16), QueueConfigError> {
        let index = self.holder(parent)?;
        let name = format!("{:x}:{:x}", parent.major, parent.minor);
        let minor = match &self.qdiscs[index].config {
            QueueConfig::Htb(htb) => {
                htb.class(parent.minor, &name)?;
                if htb.has_children(parent.minor) {
                    return wrong(format!(
                        "class {name} has children; add the queue to a class without children"
                    ));
                }
                parent.minor
            }
            // TBF has one child, whatever its minor number.
            QueueConfig::Tbf(_) => 1,
            other => {
                return wrong(format!(
                    "qdisc {:x}: is '{other}', which has no children",
                    parent.major
                ));
            }
        };
        match self.qdiscs.iter().find(|one| one.parent == Some((index, minor))) {
            Some(there) => {
                wrong(format!("{name} has a queue already, in line {}; leave one out", there.line))
            }
            None => Ok((index, minor)),
        }
    }

    fn class(&mut self, statement: &Statement<'_>) -> Result<(), QueueConfigError> {
        let Some(id) = statement.handle else {
            return wrong("'classid' is missing; write 'classid 1:10'".to_owned());
        };
        let Some(parent) = statement.parent.or(statement.root.then_some(Handle { minor: 0, ..id }))
        else {
            return wrong("'parent' is missing; write 'parent 1:' or 'parent 1:1'".to_owned());
        };
        if id.major != parent.major || id.minor == 0 {
            return wrong(format!(
                "classid {:x}:{:x} is not one of qdisc {:x}:; write 'classid {:x}:10'",
                id.major, id.minor, parent.major, parent.major
            ));
        }
        let ["htb", ..] = statement.words else {
            return wrong(format!("no class '{}': there is 'htb'", statement.words[0]));
        };
        let holder = self.holder(parent)?;
        if let Some(there) =
            self.qdiscs.iter().find(|one| one.parent == Some((holder, parent.minor)))
        {
            let (major, minor, line) = (parent.major, parent.minor, there.line);
            return wrong(format!(
                "{major:x}:{minor:x} has a queue, in line {line}: it cannot have classes; give them another parent"
            ));
        }
        let above = (parent.minor != 0).then_some(parent.minor);
        let class = HtbClass::read(
            id.minor,
            above,
            Words::new(statement.words, UnitSystem::Tc, CLASS_USAGE),
        )?;
        self.htb(parent)?.add(class, id.major, statement.replace)
    }

    fn filter(&mut self, statement: &Statement<'_>) -> Result<(), QueueConfigError> {
        let first = || {
            self.qdiscs.first().and_then(|one| one.major).map(|major| Handle { major, minor: 0 })
        };
        let Some(parent) = statement.parent.or_else(first) else {
            return wrong(
                "'parent' is missing; write 'parent 1:', and 'handle 1:' at the root".to_owned(),
            );
        };
        let (matches, class) = filter::read(statement.words, statement.ipv6 == Some(true))?;
        let target = match class.split_once(':') {
            Some((major, minor))
                if u16::from_str_radix(major, 16) == Ok(parent.major) || major.is_empty() =>
            {
                u16::from_str_radix(if minor.is_empty() { "0" } else { minor }, 16).ok()
            }
            _ => None,
        };
        let Some(target) = target else {
            return wrong(format!(
                "'{class}' is not a class of {:x}:; write 'flowid {:x}:10'",
                parent.major, parent.major
            ));
        };
        let htb = self.htb(parent)?;
        if target != 0 {
            htb.class(target, class)?;
        }
        let filters = match parent.minor {
            0 => &mut htb.filters,
            at => {
                htb.class(at, &format!("{:x}:{at:x}", parent.major))?;
                if !htb.is_below(target, at) {
                    return wrong(format!(
                        "{class} is not below {:x}:{at:x}: it would form a loop; select a class further down the tree",
                        parent.major
                    ));
                }
                let class = htb.classes.iter_mut().find(|class| class.minor == at);
                let Some(class) = class else { return Ok(()) };
                &mut class.filters
            }
        };
        let prio = statement.prio.unwrap_or_else(|| {
            let first = filters.iter().find(|one| one.prio >= AUTO_FROM);
            first.map_or(AUTO_PRIO, |first| first.prio - 1)
        });
        let at = filters.partition_point(|one| one.prio <= prio);
        // Conditions refer to the IPv4 header unless the filter says otherwise.
        let ipv6 = statement.ipv6.or((!matches.is_empty()).then_some(false));
        filters.insert(at, Filter { prio, ipv6, matches, class: target });
        Ok(())
    }

    /// Moves children into their parents; returns the root.
    pub(super) fn finish(mut self) -> Result<QueueConfig, QueueConfigError> {
        while let Some(last) = self.qdiscs.pop() {
            let Some((index, minor)) = last.parent else { return Ok(last.config) };
            match &mut self.qdiscs[index].config {
                QueueConfig::Tbf(tbf) => tbf.child = Some(last.config),
                QueueConfig::Htb(htb) => {
                    let class = htb.classes.iter_mut().find(|class| class.minor == minor);
                    if let Some(class) = class {
                        class.leaf = Some(last.config);
                    }
                }
                _ => debug_assert!(false, "only these disciplines have children"),
            }
        }
        wrong("the script adds no queue; write 'tc qdisc add dev eth0 root …'".to_owned())
    }
}

impl HtbConfig {
    /// The class with this minor number.
    fn class(&self, minor: u16, name: &str) -> Result<&HtbClass, QueueConfigError> {
        let class = self.classes.iter().find(|class| class.minor == minor);
        class.map_or_else(|| wrong(format!("there is no class {name} above; add it first")), Ok)
    }

    fn has_children(&self, minor: u16) -> bool {
        self.classes.iter().any(|class| class.parent == Some(minor))
    }

    fn parent(&self, minor: u16) -> Option<u16> {
        self.classes.iter().find(|class| class.minor == minor).and_then(|class| class.parent)
    }

    fn is_below(&self, minor: u16, top: u16) -> bool {
        std::iter::successors(self.parent(minor), |&at| self.parent(at)).any(|at| at == top)
    }

    /// Adds a class below an existing one.
    fn add(
        &mut self,
        mut class: HtbClass,
        major: u16,
        replace: bool,
    ) -> Result<(), QueueConfigError> {
        let name = |minor: u16| format!("{major:x}:{minor:x}");
        if class.parent == Some(class.minor) {
            return wrong(format!(
                "class {} is its own parent; write 'parent {major:x}:'",
                name(class.minor)
            ));
        }
        let there = self.classes.iter().position(|one| one.minor == class.minor);
        if there.is_some_and(|index| !replace || self.classes[index].parent != class.parent) {
            return wrong(format!(
                "there is a class {} already; take another number",
                name(class.minor)
            ));
        }
        if let Some(parent) = class.parent {
            let above = self.class(parent, &name(parent))?;
            let depth = std::iter::successors(Some(parent), |&at| self.parent(at)).count();
            if depth >= MAX_DEPTH {
                return wrong(format!(
                    "class {} is too deep; at most {MAX_DEPTH} levels are allowed",
                    name(class.minor)
                ));
            }
            for (word, rate) in [("rate", class.rate), ("ceil", class.ceil)] {
                if rate > above.ceil {
                    let (rate, most) = (Printed(rate), Printed(above.ceil));
                    return wrong(format!(
                        "{word} {rate} of class {} is above the ceil of its parent {}, {most}; lower it or raise the ceil",
                        name(class.minor),
                        name(parent)
                    ));
                }
            }
        }
        match there {
            Some(index) => {
                class.filters = std::mem::take(&mut self.classes[index].filters);
                self.classes[index] = class;
            }
            None => self.classes.push(class),
        }
        Ok(())
    }
}

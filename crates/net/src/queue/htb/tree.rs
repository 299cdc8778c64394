//! The buckets and modes of the classes, and which class may send.
//!
//! A leaf is at level 0, a class without a parent at the highest level. Green classes with packets
//! are in one feed per level and priority. Yellow classes with packets are in a feed of their
//! parent, one per priority. So a leaf is reached from the level at which it borrows.

use super::super::tbf::cost;
use super::config::{HtbClass, MAX_DEPTH, PRIORITIES};
use super::feed::Feed;
use units::{Bitrate, Bytes, Duration, Time};

/// The largest debt of a bucket, and the longest time that earns tokens: a minute, in ns (Linux
/// `htb_change_class`: mbuffer).
const MEMORY: i64 = 60_000_000_000;

/// The mode of a class (Devera 2002 § 2; Linux `enum htb_cmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Red: at its ceil.
    CantSend,
    /// Yellow: between rate and ceil.
    MayBorrow,
    /// Green: under its rate.
    CanSend,
}

/// A token bucket. Tokens are in ns and may be negative.
struct Bucket {
    rate: Bitrate,
    depth: i64,
    tokens: i64,
}

impl Bucket {
    fn new(rate: Bitrate, burst: Bytes) -> Self {
        let depth = price(rate, burst);
        Self { rate, depth, tokens: depth }
    }

    /// Adds the tokens of `passed` ns and subtracts the cost of a packet (Linux
    /// `htb_accnt_tokens`).
    fn charge(&mut self, passed: i64, size: Bytes) {
        let tokens = (passed + self.tokens).min(self.depth) - price(self.rate, size);
        self.tokens = tokens.max(1 - MEMORY);
    }
}

fn price(rate: Bitrate, size: Bytes) -> i64 {
    i64::try_from(cost(rate, size)).unwrap_or(i64::MAX).min(i64::MAX / 4)
}

/// A class.
pub(super) struct Class {
    parent: Option<u16>,
    level: usize,
    prio: usize,
    quantum: i64,
    overhead: Bytes,
    mpu: Bytes,
    rate: Bucket,
    ceil: Bucket,
    /// When its buckets were last updated.
    checkpoint: Time,
    mode: Mode,
    /// When its mode next changes without a packet; `None` while it is green.
    changes: Option<Time>,
    /// The priorities at which it has packets, one bit each.
    active: u8,
    /// The bytes left of its quantum at each level.
    deficit: [i64; MAX_DEPTH],
    /// Its yellow children with packets, by priority.
    feeds: [Feed; PRIORITIES],
}

impl Class {
    /// `parent` is the index of the parent.
    pub(super) fn new(config: &HtbClass, parent: Option<usize>, r2q: u32) -> Self {
        Self {
            parent: parent.and_then(|index| u16::try_from(index).ok()),
            level: 0,
            prio: usize::from(config.prio),
            quantum: config.quantum(r2q).get().cast_signed(),
            overhead: config.overhead,
            mpu: config.mpu,
            rate: Bucket::new(config.rate, config.burst),
            ceil: Bucket::new(config.ceil, config.cburst),
            checkpoint: Time::ZERO,
            mode: Mode::CanSend,
            changes: None,
            active: 0,
            deficit: [0; MAX_DEPTH],
            feeds: Default::default(),
        }
    }

    /// Time since the checkpoint.
    fn passed(&self, now: Time) -> i64 {
        i64::try_from(now.saturating_since(self.checkpoint).as_nanos())
            .unwrap_or(MEMORY)
            .min(MEMORY)
    }

    /// Its mode `passed` ns after the checkpoint, and for how many ns the mode holds at least
    /// (Linux `htb_class_mode`).
    fn mode_after(&self, passed: i64) -> (Mode, i64) {
        let (ceil, rate) = (self.ceil.tokens + passed, self.rate.tokens + passed);
        if ceil < 0 {
            (Mode::CantSend, -ceil)
        } else if rate < 0 {
            (Mode::MayBorrow, -rate)
        } else {
            (Mode::CanSend, 0)
        }
    }
}

/// The classes of an HTB.
pub(super) struct Tree {
    classes: Vec<Class>,
    /// Green classes with packets, by level and priority.
    rows: [[Feed; PRIORITIES]; MAX_DEPTH],
    /// The priorities whose feed in `rows` is not empty, per level.
    ready: [u8; MAX_DEPTH],
    /// Per level, the time before which no class changes its mode.
    due: [Time; MAX_DEPTH],
}

/// The priorities in a mask, lowest first.
fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let prio = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(prio)
    })
}

impl Tree {
    pub(super) fn new(classes: impl Iterator<Item = Class>) -> Self {
        let mut classes: Vec<Class> = classes.collect();
        for index in 0..classes.len() {
            let (mut depth, mut above) = (0, classes[index].parent);
            while let Some(parent) = above {
                depth += 1;
                above = classes[usize::from(parent)].parent;
            }
            let is_inner = classes.iter().any(|class| class.parent.map(usize::from) == Some(index));
            classes[index].level = if is_inner { MAX_DEPTH - 1 - depth } else { 0 };
        }
        Self {
            classes,
            rows: Default::default(),
            ready: [0; MAX_DEPTH],
            due: [Time::MAX; MAX_DEPTH],
        }
    }

    /// The priorities at which green classes of a level have packets.
    pub(super) fn ready(&self, level: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.ready[level])
    }

    /// A leaf has packets.
    pub(super) fn activate(&mut self, leaf: usize) {
        let class = &mut self.classes[leaf];
        if class.active == 0 {
            class.active = 1 << class.prio;
            self.link(leaf);
        }
    }

    /// A leaf has no packets any more.
    pub(super) fn deactivate(&mut self, leaf: usize) {
        if self.classes[leaf].active != 0 {
            self.unlink(leaf);
            self.classes[leaf].active = 0;
        }
    }

    /// Adds a class that may send to its row, or to the feeds of the parents that it borrows from.
    fn link(&mut self, index: usize) {
        let mut at = index;
        let mut mask = self.classes[at].active;
        while self.classes[at].mode == Mode::MayBorrow && mask != 0 {
            let Some(parent) = self.classes[at].parent else { return };
            let parent = &mut self.classes[usize::from(parent)];
            for prio in bits(mask) {
                if !parent.feeds[prio].is_empty() {
                    // The parent is in its feed already.
                    mask &= !(1 << prio);
                }
                parent.feeds[prio].insert(id(at));
            }
            parent.active |= mask;
            at = self.classes[at].parent.map_or(at, usize::from);
        }
        if self.classes[at].mode == Mode::CanSend {
            let level = self.classes[at].level;
            self.ready[level] |= mask;
            bits(mask).for_each(|prio| self.rows[level][prio].insert(id(at)));
        }
    }

    /// Reverts [`link`](Self::link). Parents without other packets are removed too.
    fn unlink(&mut self, index: usize) {
        let mut at = index;
        let mut mask = self.classes[at].active;
        while self.classes[at].mode == Mode::MayBorrow && mask != 0 {
            let Some(parent) = self.classes[at].parent else { return };
            let parent = &mut self.classes[usize::from(parent)];
            let mut emptied = 0;
            for prio in bits(mask) {
                parent.feeds[prio].remove(id(at));
                if parent.feeds[prio].is_empty() {
                    emptied |= 1 << prio;
                }
            }
            parent.active &= !emptied;
            mask = emptied;
            at = self.classes[at].parent.map_or(at, usize::from);
        }
        if self.classes[at].mode == Mode::CanSend {
            let level = self.classes[at].level;
            for prio in bits(mask) {
                let row = &mut self.rows[level][prio];
                row.remove(id(at));
                if row.is_empty() {
                    self.ready[level] &= !(1 << prio);
                }
            }
        }
    }

    /// The leaf to serve at this level and priority (Linux `htb_lookup_leaf`).
    pub(super) fn next_leaf(&mut self, level: usize, prio: usize) -> Option<usize> {
        // The classes on the way down.
        let mut way: [usize; MAX_DEPTH] = [0; MAX_DEPTH];
        let mut depth = 0;
        loop {
            let feed = match depth {
                0 => &mut self.rows[level][prio],
                _ => &mut self.classes[way[depth - 1]].feeds[prio],
            };
            if feed.is_empty() {
                debug_assert!(depth == 0, "a class in a feed has packets");
                return None;
            }
            let Some(next) = feed.current() else {
                // All children were served: the class itself is done too.
                feed.rewind();
                if depth > 0 {
                    depth -= 1;
                    let done = id(way[depth]);
                    match depth {
                        0 => self.rows[level][prio].pass(done),
                        _ => self.classes[way[depth - 1]].feeds[prio].pass(done),
                    }
                }
                continue;
            };
            let next = usize::from(next);
            if self.classes[next].level == 0 {
                return Some(next);
            }
            way[depth] = next;
            depth += 1;
        }
    }

    /// Counts a packet of a leaf; the turn of the leaf ends when its quantum is used up.
    pub(super) fn turn(&mut self, leaf: usize, level: usize, prio: usize, size: Bytes) {
        let class = &mut self.classes[leaf];
        class.deficit[level] -= size.get().cast_signed();
        if class.deficit[level] < 0 {
            class.deficit[level] += class.quantum;
            self.pass(leaf, level, prio);
        }
    }

    /// Ends a leaf's turn.
    pub(super) fn pass(&mut self, leaf: usize, level: usize, prio: usize) {
        match self.classes[leaf].parent {
            Some(parent) if level > 0 => {
                self.classes[usize::from(parent)].feeds[prio].pass(id(leaf));
            }
            _ => self.rows[0][prio].pass(id(leaf)),
        }
    }

    /// Charges a packet of a leaf that borrowed from a class of `level`: the rate buckets from that
    /// class up and the ceil buckets from the leaf up pay (Linux `htb_charge_class`).
    pub(super) fn charge(&mut self, now: Time, leaf: usize, level: usize, size: Bytes) {
        let mut at = Some(leaf);
        while let Some(index) = at {
            let class = &mut self.classes[index];
            let passed = class.passed(now);
            let size = (size + class.overhead).max(class.mpu);
            if class.level >= level {
                class.rate.charge(passed, size);
            } else {
                class.rate.tokens += passed;
            }
            class.ceil.charge(passed, size);
            class.checkpoint = now;
            let (mode, keeps) = class.mode_after(0);
            if mode != class.mode {
                self.set_change(now, index, mode, keeps);
                self.set_mode(index, mode);
            }
            at = self.classes[index].parent.map(usize::from);
        }
    }

    /// Notes until when the mode of a class holds: `keeps` ns at least.
    fn set_change(&mut self, now: Time, index: usize, mode: Mode, keeps: i64) {
        let class = &mut self.classes[index];
        class.changes =
            (mode != Mode::CanSend).then(|| now + Duration::from_nanos(keeps.unsigned_abs()));
        if let Some(at) = class.changes {
            let due = &mut self.due[class.level];
            *due = at.min(*due);
        }
    }

    fn set_mode(&mut self, index: usize, mode: Mode) {
        if self.classes[index].active == 0 {
            self.classes[index].mode = mode;
            return;
        }
        if self.classes[index].mode != Mode::CantSend {
            self.unlink(index);
        }
        self.classes[index].mode = mode;
        if mode != Mode::CantSend {
            self.link(index);
        }
    }

    /// Changes the modes of the classes of a level that are due (Linux `htb_do_events`).
    pub(super) fn change_modes(&mut self, now: Time, level: usize) {
        if self.due[level] > now {
            return;
        }
        self.due[level] = Time::MAX;
        for index in 0..self.classes.len() {
            let class = &mut self.classes[index];
            if let Some(at) = class.changes.filter(|&at| at > now && class.level == level) {
                self.due[level] = at.min(self.due[level]);
            }
            if class.level != level || class.changes.is_none_or(|due| due > now) {
                continue;
            }
            let (mode, keeps) = class.mode_after(class.passed(now));
            let changed = mode != class.mode;
            self.set_change(now, index, mode, keeps);
            if changed {
                self.set_mode(index, mode);
            }
        }
    }

    /// When a class next changes its mode; `None` if none will.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.due.iter().copied().min().filter(|&at| at < Time::MAX)
    }

    #[cfg(test)]
    pub(super) fn mode(&self, index: usize) -> Mode {
        self.classes[index].mode
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a qdisc has 65,535 classes at most: their numbers are 16 bits wide"
)]
fn id(index: usize) -> u16 {
    index as u16
}

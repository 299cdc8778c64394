//! The classes' buckets and modes, and who may send.
//!
//! A leaf is at level 0, a class without a parent at the highest. Of the green classes with
//! something to send there is a feed a level and priority; of the yellow ones each parent has a
//! feed a priority. So a leaf hangs from the level at which it borrows.

use super::super::tbf::cost;
use super::config::{HtbClass, MAX_DEPTH, PRIORITIES};
use super::feed::Feed;
use units::{Bitrate, Bytes, Duration, Time};

/// A bucket's debt and a class's memory are a minute at most (Linux `htb_change_class`: mbuffer).
const MEMORY: i64 = 60_000_000_000;

/// What a class may do (Devera 2002 § 2; Linux `enum htb_cmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Red: at its ceil.
    CantSend,
    /// Yellow: between rate and ceil.
    MayBorrow,
    /// Green: under its rate.
    CanSend,
}

/// Tokens, in ns: may be owed.
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

    /// Time has passed and a packet was sent (Linux `htb_accnt_tokens`).
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
    /// When its buckets were last brought up to date.
    checkpoint: Time,
    mode: Mode,
    /// When its mode can change by itself; `None` while it is green.
    changes: Option<Time>,
    /// The priorities at which it has something to send, a bit each.
    active: u8,
    /// What is left of its turn at each level.
    deficit: [i64; MAX_DEPTH],
    /// Its yellow children with something to send.
    feeds: [Feed; PRIORITIES],
}

impl Class {
    /// `parent` by its place.
    pub(super) fn new(config: &HtbClass, parent: Option<usize>, r2q: u32) -> Self {
        Self {
            parent: parent.and_then(|place| u16::try_from(place).ok()),
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

    /// Its mode when so much has passed, and how long it keeps it at least (Linux
    /// `htb_class_mode`).
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

/// The classes, by their places.
pub(super) struct Tree {
    classes: Vec<Class>,
    /// Green classes with something to send, by level and priority.
    rows: [[Feed; PRIORITIES]; MAX_DEPTH],
    /// Which of them are not empty.
    ready: [u8; MAX_DEPTH],
    /// No class of a level changes its mode before.
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
        for place in 0..classes.len() {
            let (mut depth, mut above) = (0, classes[place].parent);
            while let Some(parent) = above {
                depth += 1;
                above = classes[usize::from(parent)].parent;
            }
            let is_inner = classes.iter().any(|class| class.parent.map(usize::from) == Some(place));
            classes[place].level = if is_inner { MAX_DEPTH - 1 - depth } else { 0 };
        }
        Self {
            classes,
            rows: Default::default(),
            ready: [0; MAX_DEPTH],
            due: [Time::MAX; MAX_DEPTH],
        }
    }

    /// The priorities at which green classes of a level have something to send.
    pub(super) fn ready(&self, level: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.ready[level])
    }

    /// A leaf has something to send.
    pub(super) fn activate(&mut self, leaf: usize) {
        let class = &mut self.classes[leaf];
        if class.active == 0 {
            class.active = 1 << class.prio;
            self.hang(leaf);
        }
    }

    /// A leaf has nothing to send any more.
    pub(super) fn deactivate(&mut self, leaf: usize) {
        if self.classes[leaf].active != 0 {
            self.unhang(leaf);
            self.classes[leaf].active = 0;
        }
    }

    /// Puts a class that may send into its row, or into the feeds of those from which it borrows.
    fn hang(&mut self, place: usize) {
        let mut at = place;
        let mut mask = self.classes[at].active;
        while self.classes[at].mode == Mode::MayBorrow && mask != 0 {
            let Some(parent) = self.classes[at].parent else { return };
            let parent = &mut self.classes[usize::from(parent)];
            for prio in bits(mask) {
                if !parent.feeds[prio].is_empty() {
                    // It hangs already where it must.
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

    /// The opposite of [`hang`](Self::hang): parents that have nothing else to send go too.
    fn unhang(&mut self, place: usize) {
        let mut at = place;
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

    /// The leaf whose turn it is at this level and priority (Linux `htb_lookup_leaf`).
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
                debug_assert!(depth == 0, "who hangs in a feed has something to send");
                return None;
            }
            let Some(next) = feed.current() else {
                // All had their turn: so had the class itself.
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

    /// A leaf sends a packet; its turn ends with its quantum.
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

    /// A leaf has sent a packet, borrowing from a class of `level`, which pays for it from its
    /// rate; all up to the root pay from their ceil (Linux `htb_charge_class`).
    pub(super) fn charge(&mut self, now: Time, leaf: usize, level: usize, size: Bytes) {
        let mut at = Some(leaf);
        while let Some(place) = at {
            let class = &mut self.classes[place];
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
                self.set_change(now, place, mode, keeps);
                self.set_mode(place, mode);
            }
            at = self.classes[place].parent.map(usize::from);
        }
    }

    /// Its mode is from now on this, and holds for so long at least.
    fn set_change(&mut self, now: Time, place: usize, mode: Mode, keeps: i64) {
        let class = &mut self.classes[place];
        class.changes =
            (mode != Mode::CanSend).then(|| now + Duration::from_nanos(keeps.unsigned_abs()));
        if let Some(at) = class.changes {
            let due = &mut self.due[class.level];
            *due = at.min(*due);
        }
    }

    fn set_mode(&mut self, place: usize, mode: Mode) {
        if self.classes[place].active == 0 {
            self.classes[place].mode = mode;
            return;
        }
        if self.classes[place].mode != Mode::CantSend {
            self.unhang(place);
        }
        self.classes[place].mode = mode;
        if mode != Mode::CantSend {
            self.hang(place);
        }
    }

    /// Lets the classes of a level change their modes that are due (Linux `htb_do_events`).
    pub(super) fn change_modes(&mut self, now: Time, level: usize) {
        if self.due[level] > now {
            return;
        }
        self.due[level] = Time::MAX;
        for place in 0..self.classes.len() {
            let class = &mut self.classes[place];
            if let Some(at) = class.changes.filter(|&at| at > now && class.level == level) {
                self.due[level] = at.min(self.due[level]);
            }
            if class.level != level || class.changes.is_none_or(|due| due > now) {
                continue;
            }
            let (mode, keeps) = class.mode_after(class.passed(now));
            let changed = mode != class.mode;
            self.set_change(now, place, mode, keeps);
            if changed {
                self.set_mode(place, mode);
            }
        }
    }

    /// When the next class can change its mode.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.due.iter().copied().min().filter(|&at| at < Time::MAX)
    }

    #[cfg(test)]
    pub(super) fn mode(&self, place: usize) -> Mode {
        self.classes[place].mode
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a qdisc has 65,535 classes at most: their numbers are 16 bits wide"
)]
fn id(place: usize) -> u16 {
    place as u16
}

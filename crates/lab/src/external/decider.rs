//! What the answers of a program decide.

use super::messages::{Answer, Form, WhenSent, checked};
use cc::{Decision, ProbeQueue, SentPacket, SignalSink};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use units::{Bitrate, Duration, Time};

/// The pacing rate as a multiple of the target, if the program states none (libwebrtc
/// `goog_cc_network_control.cc`: 2.5).
const PACING: f64 = 2.5;
/// A probe cluster that was not sent after this time is abandoned (libwebrtc
/// `pacing/bitrate_prober.cc`: 5 s).
const PROBE_EXPIRY: Duration = Duration::from_secs(5);
/// The most names of signals of all programs of a process, and the longest of them in bytes. Our
/// choice: `gcc:libwebrtc` has fewer than 20, and names are kept until the process ends.
const MAX_NAMES: usize = 500;
const MAX_NAME: usize = 64;

/// The most bytes of a wrong answer that an error shows.
const SHOWN: usize = 200;

/// Checks the answers of a program, and holds the newest decision.
pub struct Decider {
    limits: (Bitrate, Bitrate),
    pub(super) form: Form,
    pub(super) when_sent: WhenSent,
    decision: Decision,
    probes: ProbeQueue,
    last_probe: u32,
    pub(super) next_timeout: Option<Time>,
    signals: Vec<(&'static str, f64)>,
}

impl Decider {
    /// Before the first answer the target is `start`; it is always held within `limits`.
    #[must_use]
    pub fn new(start: Bitrate, limits: (Bitrate, Bitrate)) -> Self {
        Self {
            limits,
            form: Form::default(),
            when_sent: WhenSent::default(),
            decision: Decision {
                target_rate: start,
                pacing_rate: start.scale(PACING),
                probe: None,
            },
            probes: ProbeQueue::new(PROBE_EXPIRY),
            last_probe: 0,
            next_timeout: None,
            signals: Vec::new(),
        }
    }

    /// Takes the answer to a message of the time `now`.
    ///
    /// # Errors
    /// In words, with the answer, if it is not an answer or asks for something impossible.
    pub fn take(&mut self, now: Time, answer: &[u8]) -> Result<(), String> {
        let read =
            self.form.read(answer).map_err(|error| format!("this is not an answer: {error}"));
        read.and_then(|read| self.apply(now, &read))
            .map_err(|reason| format!("{reason}; its answer was {}", shown(self.form, answer)))
    }

    fn apply(&mut self, now: Time, answer: &Answer) -> Result<(), String> {
        let rate =
            |what: &str, value: f64| checked(what, "bit/s", value).map(Bitrate::from_bps_f64);
        let (min, max) = self.limits;
        let target_rate = rate("target_rate", answer.target_rate)?.max(min).min(max);
        let pacing_rate = match answer.pacing_rate {
            Some(bps) => rate("pacing_rate", bps)?,
            None => target_rate.scale(PACING),
        };
        for probe in &answer.probes {
            if probe.id <= self.last_probe {
                let (id, last) = (probe.id, self.last_probe);
                return Err(format!("the probe {id} is not after the probe {last}; count up"));
            }
            self.probes.push(Some(now), probe.cluster()?);
            self.last_probe = probe.id;
        }
        self.next_timeout = match answer.next_timeout {
            None => None,
            Some(at) => {
                let time = Time::from_secs_f64(checked("next_timeout", "s", at)?);
                let told = now.as_secs_f64();
                if at <= told {
                    return Err(format!(
                        "next_timeout is {at} s, which is not after the time of the message, {told} s"
                    ));
                }
                // A sum of seconds may be later by less than a nanosecond.
                Some(time.max(now + Duration::from_nanos(1)))
            }
        };
        if let Some(when) = answer.sent {
            self.when_sent = when;
        }
        self.signals.clear();
        for (name, value) in &answer.signals {
            self.signals.push((signal_name(name)?, value.unwrap_or(f64::NAN)));
        }
        if let Some(form) = answer.form {
            self.form = form;
        }
        self.decision = Decision { target_rate, pacing_rate, probe: self.probes.offered() };
        Ok(())
    }

    /// A packet left the pacer.
    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.probes.on_sent(packet);
        self.decision.probe = self.probes.offered();
    }

    /// The newest decision.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// The signals of the newest answer.
    pub fn signals(&self, sink: &mut SignalSink<'_>) {
        self.signals.iter().for_each(|(name, value)| sink(name, *value));
    }
}

/// The beginning of a wrong answer as text.
fn shown(form: Form, answer: &[u8]) -> String {
    let text = match form {
        Form::Json => String::from_utf8_lossy(answer).trim_end().to_owned(),
        Form::MessagePack => match form.read::<serde_json::Value>(answer) {
            Ok(value) => value.to_string(),
            Err(_) => answer.escape_ascii().take(SHOWN).map(char::from).collect(),
        },
    };
    text.chars().take(SHOWN).collect()
}

/// A name of a signal that lives as long as the process, as the names of recorded columns do.
///
/// # Errors
/// If the name is empty or longer than 64 bytes, or the process has 500 other names already.
pub fn signal_name(name: &str) -> Result<&'static str, String> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("the name of the signal '{name}' does not have 1 to {MAX_NAME} bytes"));
    }
    if names.len() == MAX_NAMES {
        return Err(format!("there are more than {MAX_NAMES} names of signals; use fixed names"));
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    Ok(name)
}

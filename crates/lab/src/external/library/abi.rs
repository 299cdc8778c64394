//! The functions and structures of `adapters/c/weir_controller.h`, version 1. This is the only file
//! of the crate with unsafe code.

use crate::external::messages::{Answer, Arrival, Ecn, Packet, Probe, Told, WhenSent};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::ptr;

/// The version of the header.
const VERSION: u32 = 1;
/// The most probes and signals of an answer. Our choice: far more than a controller has. A greater
/// number is that of an answer that was not filled in.
const MAX_COUNT: usize = 1000;

/// `struct weir_configuration`.
#[repr(C)]
struct Configuration {
    call: *const c_char,
    seed: u64,
    start_rate: f64,
    min_rate: f64,
    max_rate: f64,
}

/// `struct weir_packet`.
#[repr(C)]
struct CPacket {
    sequence: u64,
    sent: f64,
    size: u64,
    probe: i64,
}

/// `struct weir_result`.
#[repr(C)]
struct CResult {
    packet: CPacket,
    arrival: f64,
    ecn: u32,
}

/// `struct weir_message`.
#[repr(C)]
struct CMessage {
    kind: u32,
    now: f64,
    sent: *const CPacket,
    sent_count: usize,
    results: *const CResult,
    result_count: usize,
    rtt: f64,
    fraction_lost: f64,
    expected: u64,
    remb: f64,
    min_rate: f64,
    max_rate: f64,
}

/// `struct weir_probe`.
#[repr(C)]
struct CProbe {
    id: u32,
    min_packets: u32,
    rate: f64,
    min_duration: f64,
}

/// `struct weir_signal`.
#[repr(C)]
struct CSignal {
    name: *const c_char,
    value: f64,
}

/// `struct weir_answer`.
#[repr(C)]
struct CAnswer {
    target_rate: f64,
    pacing_rate: f64,
    next_timeout: f64,
    probes: *const CProbe,
    probe_count: usize,
    signals: *const CSignal,
    signal_count: usize,
    when_sent: u32,
}

impl CAnswer {
    const EMPTY: Self = Self {
        target_rate: f64::NAN,
        pacing_rate: f64::NAN,
        next_timeout: f64::NAN,
        probes: ptr::null(),
        probe_count: 0,
        signals: ptr::null(),
        signal_count: 0,
        when_sent: 0,
    };
}

type Version = unsafe extern "C" fn() -> u32;
type New = unsafe extern "C" fn(*const Configuration, *mut CAnswer) -> *mut c_void;
type Handle = unsafe extern "C" fn(*mut c_void, *const CMessage, *mut CAnswer);
type Free = unsafe extern "C" fn(*mut c_void);

/// What a message of the protocol is for a library.
pub(super) enum Event {
    Sent,
    Allocation { min_rate: f64, max_rate: f64 },
    Feedback(Told),
    Timeout,
}

/// A controller of a loaded library.
pub(super) struct Controller {
    controller: *mut c_void,
    handle: Handle,
    free: Free,
    sent: Vec<CPacket>,
    results: Vec<CResult>,
    /// The configuration that the controller may still point into.
    _call: CString,
    /// Dropped last.
    _library: Library,
}

impl Controller {
    /// Loads a library, and makes a controller of it for a call with this seed and these rates:
    /// start, least and greatest.
    ///
    /// # Errors
    /// In words, if the library cannot be loaded, is of another version, or makes no controller.
    pub(super) fn load(
        path: &Path,
        call: &str,
        seed: u64,
        [start_rate, min_rate, max_rate]: [f64; 3],
    ) -> Result<(Self, Answer), String> {
        let call = CString::new(call).map_err(|error| format!("the name of the call: {error}"))?;
        #[expect(unsafe_code, reason = "a library is loaded to run its code")]
        // SAFETY: the initialisers of the library run in this process, which exists for them only;
        // what they do wrong costs one run.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        let version: Version = function(&library, "weir_controller_version")?;
        let new: New = function(&library, "weir_controller_new")?;
        let handle: Handle = function(&library, "weir_controller_handle")?;
        let free: Free = function(&library, "weir_controller_free")?;
        #[expect(unsafe_code, reason = "a function of the library is called")]
        // SAFETY: the header declares it with this type.
        let version = unsafe { version() };
        if version != VERSION {
            return Err(format!(
                "the library has version {version} of weir_controller.h, and this program {VERSION}; \
                 compile it again with that header"
            ));
        }
        let configuration =
            Configuration { call: call.as_ptr(), seed, start_rate, min_rate, max_rate };
        let mut answer = CAnswer::EMPTY;
        #[expect(unsafe_code, reason = "a function of the library is called")]
        // SAFETY: the header declares it with this type, and both structures outlive the call. The
        // text of the call lives in `_call`.
        let controller = unsafe { new(&raw const configuration, &raw mut answer) };
        if controller.is_null() {
            return Err("weir_controller_new returned NULL".to_owned());
        }
        let (sent, results) = (Vec::new(), Vec::new());
        let this = Self { controller, handle, free, sent, results, _call: call, _library: library };
        let sent = match answer.when_sent {
            0 => WhenSent::WithNext,
            1 => WhenSent::AtOnce,
            2 => WhenSent::Never,
            other => return Err(format!("when_sent is {other}; use one of enum weir_when_sent")),
        };
        Ok((this, Answer { sent: Some(sent), ..read(&answer)? }))
    }

    /// Passes a message on.
    ///
    /// # Errors
    /// In words, if the answer is not as the header says.
    pub(super) fn handle(
        &mut self,
        now: f64,
        sent: &[Packet],
        event: &Event,
    ) -> Result<Answer, String> {
        self.sent.clear();
        self.sent.extend(sent.iter().map(packet));
        self.results.clear();
        let seconds = |rtt: &Option<f64>| rtt.unwrap_or(f64::NAN);
        let (mut fraction_lost, mut expected, mut remb) = (0.0, 0, 0.0);
        let mut rates = (0.0, 0.0);
        let (kind, rtt) = match event {
            Event::Sent => (0, f64::NAN),
            Event::Feedback(Told::Packets { results, rtt }) => {
                self.results.extend(results.iter().map(result));
                (1, seconds(rtt))
            }
            Event::Feedback(Told::Report { fraction_lost: lost, expected: packets, rtt }) => {
                (fraction_lost, expected) = (*lost, *packets);
                (2, seconds(rtt))
            }
            Event::Feedback(Told::Remb { rate }) => {
                remb = *rate;
                (3, f64::NAN)
            }
            Event::Timeout => (4, f64::NAN),
            Event::Allocation { min_rate, max_rate } => {
                rates = (*min_rate, *max_rate);
                (5, f64::NAN)
            }
        };
        let message = CMessage {
            kind,
            now,
            sent: self.sent.as_ptr(),
            sent_count: self.sent.len(),
            results: self.results.as_ptr(),
            result_count: self.results.len(),
            rtt,
            fraction_lost,
            expected,
            remb,
            min_rate: rates.0,
            max_rate: rates.1,
        };
        let mut answer = CAnswer::EMPTY;
        #[expect(unsafe_code, reason = "a function of the library is called")]
        // SAFETY: the header declares it with this type; `controller` is of the same library and
        // not freed, and both structures and what they point to outlive the call.
        unsafe {
            (self.handle)(self.controller, &raw const message, &raw mut answer);
        }
        read(&answer)
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "a function of the library is called")]
        // SAFETY: the header declares it with this type; the controller is freed here only.
        unsafe {
            (self.free)(self.controller);
        }
    }
}

/// Standard output, which from now on goes to standard error for everything else in this process.
pub(super) fn take_output() -> io::Result<File> {
    #[expect(clippy::disallowed_methods, reason = "answers to the parent, not text for people")]
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    #[expect(unsafe_code, reason = "no safe function replaces a descriptor of the process")]
    // SAFETY: both descriptors are those of the standard streams, which stay open.
    let done = unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from(output)) }
}

/// A function that the library exports.
fn function<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    #[expect(unsafe_code, reason = "the type of a function of a library cannot be checked")]
    // SAFETY: the header declares the function with this type, and the library stays loaded as long
    // as the function is used.
    let found = unsafe { library.get::<T>(name) };
    found.map(|function| *function).map_err(|error| {
        format!("it does not export {name} as weir_controller.h declares it: {error}")
    })
}

fn packet(packet: &Packet) -> CPacket {
    let Packet { sequence, sent, size, probe } = *packet;
    CPacket { sequence, sent, size, probe: probe.map_or(-1, i64::from) }
}

fn result(result: &Arrival) -> CResult {
    let Arrival { sequence, sent, size, probe, arrival, ecn } = *result;
    let ecn = match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect0 => 1,
        Ecn::Ect1 => 2,
        Ecn::Ce => 3,
    };
    let packet = packet(&Packet { sequence, sent, size, probe });
    CResult { packet, arrival: arrival.unwrap_or(f64::NAN), ecn }
}

/// An answer, whose arrays are copied.
fn read(answer: &CAnswer) -> Result<Answer, String> {
    let set = |value: f64| Some(value).filter(|value| !value.is_nan());
    if answer.target_rate.is_nan() {
        return Err("the library has not set target_rate".to_owned());
    }
    let probe = |probe: &CProbe| {
        let CProbe { id, min_packets, rate, min_duration } = *probe;
        Probe { id, rate, min_duration, min_packets }
    };
    let mut signals = BTreeMap::new();
    for signal in array(answer.signals, answer.signal_count, "signals")? {
        if signal.name.is_null() {
            return Err("the name of a signal is NULL".to_owned());
        }
        #[expect(unsafe_code, reason = "the library points to a text")]
        // SAFETY: the header asks for a text that ends with a zero byte and lives until the next
        // call.
        let name = unsafe { CStr::from_ptr(signal.name) };
        signals.insert(name.to_string_lossy().into_owned(), set(signal.value));
    }
    Ok(Answer {
        target_rate: answer.target_rate,
        pacing_rate: set(answer.pacing_rate),
        next_timeout: set(answer.next_timeout),
        probes: array(answer.probes, answer.probe_count, "probes")?.iter().map(probe).collect(),
        signals,
        ..Answer::default()
    })
}

fn array<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T], String> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() || !first.is_aligned() || count > MAX_COUNT {
        return Err(format!("{what} is not an array of {count} (at most {MAX_COUNT})"));
    }
    #[expect(unsafe_code, reason = "the library points to an array")]
    // SAFETY: the header asks for an array of `count` that lives until the next call; the caller
    // copies it before.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

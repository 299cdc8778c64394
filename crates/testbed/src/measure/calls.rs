//! The calls of a measured run: launches the browsers, starts and ends the calls, and watches both.

use super::active_call::{ActiveCall, CallError};
use super::browser::{Browser, BrowserError, Launch};
use super::error::{BrowserLog, MeasureError};
use super::event_logs::EventLogs;
use super::ims::Ims;
use super::machine::{self, MachineSampler};
use super::media::Media;
use super::native::{NativePeerSpec, NativePeers};
use super::notes::Notes;
use super::plan::{BrowserHost, Plan};
use super::relay::{self, Relays};
use super::sfu::ForwardingUnits;
use crate::emulate::{CallEndpoints, CallRecords};
use emulator::Testbed;
use experiment::Endpoint;
use net::HostId;
use server::signalling::{CallRole, Options, Server};
use sim::Scenario;
use sim::recording::Event;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration as Span;
use units::{Duration, Time};

/// Ticks until the pages must have picture and sound: 20 s; on an idle machine they take 1 s.
const READY_TICKS: u32 = 2_000;
/// Ticks that the pages get for their last statistics: 1.5 s.
const HANGUP_TICKS: u32 = 150;
const TICK: Span = Span::from_millis(10);
/// Ticks between two checks of the browsers, while the pages are awaited.
const CHECK_TICKS: u32 = 50;
/// Lines of a browser's log that an error shows.
const LOG_LINES: usize = 8;
/// The time between two checks of the browsers during the run.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The browsers of a run and their calls.
pub(super) struct MeasuredCalls<'a> {
    plan: Plan,
    scenario: &'a Scenario,
    /// The picture and sound of each browser host.
    media: Vec<Option<Media>>,
    server: Option<Server>,
    browsers: Vec<(String, Browser)>,
    native_peers: NativePeers,
    relays: Relays,
    forwarding_units: ForwardingUnits,
    calls: Vec<ActiveCall>,
    machine: Option<MachineSampler>,
    event_logs: Option<EventLogs>,
    /// The IMS that the calls pass, as the file describes it, and the control socket of the run.
    ims_config: Option<(&'a experiment::Ims, &'a Path)>,
    ims: Option<Ims>,
    /// Whether the pages have been asked to register.
    registering: bool,
    events: Vec<Event>,
    start: f64,
    last_check: Time,
    notes: Notes,
}

impl<'a> MeasuredCalls<'a> {
    pub(super) fn new(
        plan: Plan,
        scenario: &'a Scenario,
        media: Vec<Option<Media>>,
        event_logs: Option<EventLogs>,
        ims_config: Option<(&'a experiment::Ims, &'a Path)>,
    ) -> Self {
        Self {
            event_logs,
            ims_config,
            ims: None,
            registering: false,
            events: Vec::new(),
            plan,
            scenario,
            media,
            server: None,
            browsers: Vec::new(),
            native_peers: NativePeers::default(),
            relays: Relays::default(),
            forwarding_units: ForwardingUnits::default(),
            calls: Vec::new(),
            machine: None,
            start: 0.0,
            last_check: Time::ZERO,
            notes: Notes::default(),
        }
    }

    /// Opens the signalling rooms of the calls and starts the native peers; returns the page
    /// address of every other endpoint, with its host.
    fn rooms(
        &mut self,
        server: &Server,
        testbed: &Testbed,
    ) -> Result<Vec<(HostId, String)>, MeasureError> {
        let mut pages = Vec::new();
        for (index, call) in self.plan.calls.clone().into_iter().enumerate() {
            let name = || call.config.name.clone();
            let room = server
                .reserve_room(&format!("call-{index}"), call.settings.clone())
                .map_err(|error| MeasureError::Room { call: name(), error })?;
            self.forwarding_units.join(testbed, &call.config, &room)?;
            let hosts = [call.config.from, call.config.to];
            for ((seat, host), endpoint) in CallRole::ALL.into_iter().zip(hosts).zip(call.endpoints)
            {
                match endpoint {
                    None => {}
                    Some(Endpoint::Browser(_)) => pages.push((host, room.path(seat))),
                    Some(Endpoint::Native(native)) => {
                        let participant = room.join(seat).map_err(|refusal| {
                            MeasureError::Participant { call: name(), reason: refusal.to_string() }
                        })?;
                        let spec =
                            NativePeerSpec::new(native, &call.config, seat, self.scenario.seed);
                        self.native_peers
                            .start(testbed.host(host), participant, spec)
                            .map_err(|error| MeasureError::NativePeer { call: name(), error })?;
                        self.notes.native(self.scenario.name(host), native, &call.config);
                    }
                }
            }
            let hosts = hosts.map(|host| self.scenario.name(host).to_owned());
            self.calls.push(ActiveCall::new(call, hosts, room));
        }
        Ok(pages)
    }

    /// Launches the browsers in parallel, and opens their pages.
    fn launch(
        &mut self,
        testbed: &Testbed,
        pages: &[(HostId, u16, String)],
        cancel: &AtomicBool,
    ) -> Result<(), MeasureError> {
        let event_logs = self.event_logs.as_ref();
        let trusted_key = self.ims.as_ref().map(Ims::fingerprint);
        let launch = |browser_host: &BrowserHost, media: Option<&Media>| {
            let host = testbed.host(browser_host.host);
            let logs = event_logs
                .filter(|_| browser_host.browser.is_chromium())
                .map(|logs| logs.folder_of(&browser_host.name))
                .transpose()?;
            let named = |error: BrowserError| MeasureError::Browser {
                host: browser_host.name.clone(),
                error,
            };
            let mut browser = Browser::launch(Launch {
                kind: browser_host.browser,
                host,
                media,
                event_logs: logs.as_deref(),
                trusted_key,
                ipv6: false,
                cancel,
            })
            .map_err(named)?;
            for (_, port, path) in pages.iter().filter(|(host, ..)| *host == browser_host.host) {
                browser.open(&format!("http://127.0.0.1:{port}{path}"), cancel).map_err(named)?;
            }
            Ok((browser_host.name.clone(), browser))
        };
        let browser_hosts = self.plan.browser_hosts.iter().zip(&self.media);
        let launched: Vec<Result<_, MeasureError>> = scope(|scope| {
            let threads: Vec<_> = browser_hosts
                .map(|(browser_host, media)| {
                    scope.spawn(move || launch(browser_host, media.as_ref()))
                })
                .collect();
            let broke = || MeasureError::LaunchPanicked;
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(broke())))
                .collect()
        });
        // Browsers that did start are kept, so that they are ended after an error.
        let mut failed = None;
        for one in launched {
            match one {
                Ok(browser) => self.browsers.push(browser),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Waits until every page has its picture and sound.
    fn wait(&mut self, cancel: &AtomicBool) -> Result<(), MeasureError> {
        for tick in 1..=READY_TICKS {
            self.each_call(|call| call.receive(Time::ZERO))?;
            if cancel.load(Ordering::Relaxed) || self.calls.iter().all(ActiveCall::is_ready) {
                return Ok(());
            }
            if tick % CHECK_TICKS == 0 {
                self.check_alive()?;
            }
            sleep(TICK);
        }
        let late = self.calls.iter().find_map(ActiveCall::find_unready);
        Err(self.with_logs(late.unwrap_or(CallError::PagesNotReady)))
    }

    /// Calls `act` with each call. An error is returned with the last output of the browsers.
    fn each_call(
        &mut self,
        act: impl FnMut(&mut ActiveCall) -> Result<(), CallError>,
    ) -> Result<(), MeasureError> {
        let failed = self.calls.iter_mut().try_for_each(act).err();
        failed.map_or(Ok(()), |error| {
            // A browser that has ended also closes its page; report the browser.
            self.check_alive()?;
            Err(self.with_logs(error))
        })
    }

    /// Adds the last lines of the browsers' logs to an error.
    fn with_logs(&self, error: CallError) -> MeasureError {
        let logs = self.browsers.iter().filter_map(|(host, browser)| {
            let mut log = browser.log();
            let lines = log.split_off(log.len().saturating_sub(LOG_LINES));
            let (host, browser) = (host.clone(), browser.version().to_owned());
            (!lines.is_empty()).then_some(BrowserLog { host, browser, lines })
        });
        MeasureError::Call { error, logs: logs.collect() }
    }

    /// Takes what has happened in the IMS.
    fn poll_ims(&mut self, now: Time) -> Result<(), MeasureError> {
        let Some(ims) = &mut self.ims else { return Ok(()) };
        let happened = ims.poll(now)?;
        let at = now.min(Time::ZERO + self.scenario.duration);
        self.events.extend(happened.events.into_iter().map(|event| Event { at, ..event }));
        self.plan.warnings.extend(happened.warnings);
        Ok(())
    }

    /// Checks that the browsers, relays and forwarding units run.
    fn check_alive(&mut self) -> Result<(), MeasureError> {
        for (host, browser) in &mut self.browsers {
            let named = |error| MeasureError::Browser { host: host.clone(), error };
            browser.is_alive().map_err(named)?;
        }
        self.relays.check_alive()?;
        if let Some(ims) = &mut self.ims {
            ims.check_alive()?;
        }
        Ok(self.forwarding_units.check_alive()?)
    }
}

impl CallEndpoints for MeasuredCalls<'_> {
    type Error = MeasureError;

    fn start(&mut self, testbed: &Testbed, cancel: &AtomicBool) -> Result<(), MeasureError> {
        let mut ports = Vec::new();
        let mut listeners = Vec::new();
        for browser_host in &self.plan.browser_hosts {
            let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            let failed =
                |error| MeasureError::PageSocket { host: browser_host.name.clone(), error };
            let listener = testbed.host(browser_host.host).within(listen)?.map_err(failed)?;
            ports.push((browser_host.host, listener.local_addr().map_err(failed)?.port()));
            listeners.push(listener);
        }
        let film =
            self.media.iter().flatten().find_map(|media| media.webm.as_deref()).map(Path::to_owned);
        if let Some((config, control)) = self.ims_config {
            let ims = Ims::start(testbed, config, self.scenario, control, cancel)?;
            ims.assign(&mut self.plan.calls)?;
            self.ims = Some(ims);
        }
        let websocket = self.ims.as_ref().map(Ims::origin);
        let server = Server::start(listeners, Options { film, websocket, ..Options::default() })
            .map_err(MeasureError::PageServer)?;
        self.relays = Relays::start(testbed, &mut self.plan.calls, self.scenario.duration, cancel)?;
        self.forwarding_units =
            ForwardingUnits::start(testbed, self.scenario.calls.iter(), cancel)?;
        let pages = self.rooms(&server, testbed)?;
        self.server = Some(server);
        let port = |host| ports.iter().find(|(at, _)| *at == host).map_or(0, |(_, port)| *port);
        let pages: Vec<_> =
            pages.into_iter().map(|(host, path)| (host, port(host), path)).collect();
        self.launch(testbed, &pages, cancel)?;
        self.wait(cancel)
    }

    fn begin(&mut self, since_1970: Duration) {
        self.start = since_1970.as_millis_f64();
        self.notes.date(since_1970);
        let (interval, duration) = (self.scenario.sample_interval, self.scenario.duration);
        self.machine = Some(MachineSampler::start(interval, duration));
        for call in &mut self.calls {
            call.begin(self.start, interval, duration);
        }
    }

    fn poll(&mut self, testbed: &Testbed, now: Time) -> Result<(), MeasureError> {
        if let Some(machine) = &mut self.machine {
            machine.poll(now);
        }
        if let Some(ims) = &mut self.ims {
            if !self.registering && ims.is_ready(now)? {
                self.registering = true;
                self.calls.iter().for_each(ActiveCall::register);
            }
            ims.break_down(testbed, now)?;
        }
        self.poll_ims(now)?;
        let start = self.start;
        self.each_call(|call| call.poll(now, start))?;
        if now.saturating_since(self.last_check) >= CHECK_INTERVAL {
            self.last_check = now;
            self.check_alive()?;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), MeasureError> {
        let unconnected: Vec<CallError> =
            self.calls.iter_mut().filter_map(|call| call.hang_up().err()).collect();
        for _ in 0..HANGUP_TICKS {
            // The messages that arrive now are the last; a page may fail while it closes.
            let mut over = true;
            for call in &mut self.calls {
                over &= call.receive(Time::MAX).is_err() || call.is_over();
            }
            if over {
                break;
            }
            sleep(TICK);
        }
        let failed = unconnected.into_iter().next().map(|error| self.with_logs(error));
        scope(|scope| {
            for (host, browser) in self.browsers.drain(..) {
                self.notes.browser(&host, &browser);
                scope.spawn(move || browser.quit());
            }
        });
        // The messages that end the calls and registrations have arrived, or never will.
        let polled = self.poll_ims(Time::MAX);
        if let Some(ims) = self.ims.take() {
            self.plan.warnings.extend(ims.warnings());
        }
        self.native_peers = NativePeers::default();
        self.server = None;
        self.notes.call(self.relays.notes());
        self.relays = Relays::default();
        self.notes.call(self.forwarding_units.notes());
        self.forwarding_units = ForwardingUnits::default();
        failed.map_or(polled, Err)
    }

    fn records(&mut self, duration: Duration) -> Option<CallRecords> {
        let mut records = CallRecords {
            warnings: std::mem::take(&mut self.plan.warnings),
            ..CallRecords::default()
        };
        for (call, planned) in self.calls.iter_mut().zip(&self.plan.calls) {
            let collected = call.finish();
            records.streams.extend(collected.streams);
            records.events.extend(collected.events);
            records.warnings.extend(collected.warnings);
            records.warnings.extend(relay::warning(
                &planned.config,
                &self.scenario.network,
                &collected.notes,
            ));
            self.notes.call(collected.notes);
        }
        records.events.append(&mut self.events);
        for (browser_host, media) in self.plan.browser_hosts.iter().zip(&self.media) {
            if let Some(media) = media {
                self.notes.media(&browser_host.name, media);
            }
        }
        if let Some(logs) = self.event_logs.take() {
            let hosts = self.scenario.network.hosts.iter().map(|host| &*host.name);
            records.warnings.extend(logs.collect(hosts));
        }
        records.notes = self.notes.take();
        if let Some(sampler) = self.machine.take() {
            machine::mark(&mut records, sampler, self.plan.frame_rate(), Time::ZERO + duration);
        }
        Some(records)
    }
}

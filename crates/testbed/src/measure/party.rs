//! The browsers of a run, as guests of its emulation: launched, told when to call and to hang up,
//! watched.

use super::browser::{Browser, BrowserError, Launch};
use super::error::{BrowserLog, MeasureError};
use super::machine::{self, MachineSampler};
use super::media::Media;
use super::native::{Natives, Spec};
use super::notes::Notes;
use super::ongoing::{CallError, Ongoing};
use super::plan::{Plan, Station};
use super::relay::{self, Relays};
use super::sfu::Units;
use crate::emulate::{Guests, Records};
use emulator::Testbed;
use experiment::Endpoint;
use net::HostId;
use server::signalling::{Options, Seat, Server};
use sim::Scenario;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration as Span;
use units::{Duration, Time};

/// How long pages may take until they have picture and sound, in ticks; on an idle machine it is a
/// second.
const PATIENCE: u32 = 2_000;
/// How long they may take for their last statistics, in ticks.
const GOODBYE: u32 = 150;
const TICK: Span = Span::from_millis(10);
/// Ticks between two looks whether the browsers are alive, while pages are waited for.
const LOOK_TICKS: u32 = 50;
/// Lines of a browser's log that an error shows.
const LINES: usize = 8;
/// Between two looks whether the browsers are alive.
const LOOK: Duration = Duration::from_secs(1);

/// The browsers of a run and their calls.
pub(super) struct Party<'a> {
    plan: Plan,
    scenario: &'a Scenario,
    /// Of each station.
    media: Vec<Option<Media>>,
    server: Option<Server>,
    browsers: Vec<(String, Browser)>,
    natives: Natives,
    relays: Relays,
    units: Units,
    calls: Vec<Ongoing>,
    machine: Option<MachineSampler>,
    start: f64,
    looked: Time,
    notes: Notes,
}

impl<'a> Party<'a> {
    pub(super) fn new(plan: Plan, scenario: &'a Scenario, media: Vec<Option<Media>>) -> Self {
        Self {
            plan,
            scenario,
            media,
            server: None,
            browsers: Vec::new(),
            natives: Natives::default(),
            relays: Relays::default(),
            units: Units::default(),
            calls: Vec::new(),
            machine: None,
            start: 0.0,
            looked: Time::ZERO,
            notes: Notes::default(),
        }
    }

    /// Opens the calls' rooms and seats the native peers; gives the page of every other seat, with
    /// its host.
    fn rooms(
        &mut self,
        server: &Server,
        testbed: &Testbed,
    ) -> Result<Vec<(HostId, String)>, MeasureError> {
        let mut pages = Vec::new();
        for (index, call) in self.plan.calls.clone().into_iter().enumerate() {
            let name = || call.config.name.clone();
            let room = server
                .measured(&format!("call-{index}"), call.settings.clone())
                .map_err(|error| MeasureError::Room { call: name(), error })?;
            self.units.enter(testbed, &call.config, &room)?;
            let hosts = [call.config.from, call.config.to];
            for ((seat, host), endpoint) in Seat::ALL.into_iter().zip(hosts).zip(call.endpoints) {
                match endpoint {
                    None => {}
                    Some(Endpoint::Browser(_)) => pages.push((host, room.path(seat))),
                    Some(Endpoint::Native(native)) => {
                        let place = room.enter(seat).map_err(|refusal| {
                            MeasureError::Participant { call: name(), reason: refusal.1 }
                        })?;
                        let spec = Spec::new(native, &call.config, seat, self.scenario.seed);
                        self.natives
                            .seat(testbed.host(host), place, spec)
                            .map_err(|error| MeasureError::NativePeer { call: name(), error })?;
                        self.notes.native(self.scenario.name(host), native, &call.config);
                    }
                }
            }
            let hosts = hosts.map(|host| self.scenario.name(host).to_owned());
            self.calls.push(Ongoing::new(call, hosts, room));
        }
        Ok(pages)
    }

    /// Launches the browsers, all at once, and opens their pages.
    fn launch(
        &mut self,
        testbed: &Testbed,
        pages: &[(HostId, u16, String)],
        cancel: &AtomicBool,
    ) -> Result<(), MeasureError> {
        let launch = |station: &Station, media: Option<&Media>| {
            let host = testbed.host(station.host);
            let named =
                |error: BrowserError| MeasureError::Browser { host: station.name.clone(), error };
            let mut browser =
                Browser::launch(Launch { kind: station.browser, host, media, ipv6: false, cancel })
                    .map_err(named)?;
            for (_, port, path) in pages.iter().filter(|(host, ..)| *host == station.host) {
                browser.open(&format!("http://127.0.0.1:{port}{path}"), cancel).map_err(named)?;
            }
            Ok((station.name.clone(), browser))
        };
        let stations = self.plan.stations.iter().zip(&self.media);
        let launched: Vec<Result<_, MeasureError>> = scope(|scope| {
            let threads: Vec<_> = stations
                .map(|(station, media)| scope.spawn(move || launch(station, media.as_ref())))
                .collect();
            let broke = || MeasureError::LaunchPanicked;
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(broke())))
                .collect()
        });
        // Those that came are kept before an error is told, so that they are sent home.
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
        for tick in 1..=PATIENCE {
            self.each_call(|call| call.listen(Time::ZERO))?;
            if cancel.load(Ordering::Relaxed) || self.calls.iter().all(Ongoing::is_ready) {
                return Ok(());
            }
            if tick % LOOK_TICKS == 0 {
                self.look()?;
            }
            sleep(TICK);
        }
        let late = self.calls.iter().find_map(Ongoing::unready);
        Err(self.with_logs(late.unwrap_or(CallError::PagesNotReady)))
    }

    /// Does something with each call. When one fails, that is told with what the browsers wrote.
    fn each_call(
        &mut self,
        act: impl FnMut(&mut Ongoing) -> Result<(), CallError>,
    ) -> Result<(), MeasureError> {
        let failed = self.calls.iter_mut().try_for_each(act).err();
        failed.map_or(Ok(()), |error| {
            // A browser that has died closes its page first.
            self.look()?;
            Err(self.with_logs(error))
        })
    }

    /// An error with the last lines of the browsers' logs.
    fn with_logs(&self, error: CallError) -> MeasureError {
        let logs = self.browsers.iter().filter_map(|(host, browser)| {
            let mut log = browser.log();
            let lines = log.split_off(log.len().saturating_sub(LINES));
            let (host, browser) = (host.clone(), browser.version().to_owned());
            (!lines.is_empty()).then_some(BrowserLog { host, browser, lines })
        });
        MeasureError::Call { error, logs: logs.collect() }
    }

    /// Sees whether the browsers are alive.
    fn look(&mut self) -> Result<(), MeasureError> {
        for (host, browser) in &mut self.browsers {
            let named = |error| MeasureError::Browser { host: host.clone(), error };
            browser.is_alive().map_err(named)?;
        }
        self.relays.look()?;
        Ok(self.units.look()?)
    }
}

impl Guests for Party<'_> {
    type Error = MeasureError;

    fn arrive(&mut self, testbed: &Testbed, cancel: &AtomicBool) -> Result<(), MeasureError> {
        let mut ports = Vec::new();
        let mut listeners = Vec::new();
        for station in &self.plan.stations {
            let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            let failed = |error| MeasureError::PageSocket { host: station.name.clone(), error };
            let listener = testbed.host(station.host).within(listen)?.map_err(failed)?;
            ports.push((station.host, listener.local_addr().map_err(failed)?.port()));
            listeners.push(listener);
        }
        let film =
            self.media.iter().flatten().find_map(|media| media.webm.as_deref()).map(Path::to_owned);
        let server = Server::start(listeners, Options { film, ..Options::default() })
            .map_err(MeasureError::PageServer)?;
        self.relays = Relays::start(testbed, &mut self.plan.calls, self.scenario.duration, cancel)?;
        self.units = Units::start(testbed, self.scenario.calls.iter(), cancel)?;
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

    fn turn(&mut self, now: Time) -> Result<(), MeasureError> {
        if let Some(machine) = &mut self.machine {
            machine.turn(now);
        }
        let start = self.start;
        self.each_call(|call| call.turn(now, start))?;
        if now.saturating_since(self.looked) >= LOOK {
            self.looked = now;
            self.look()?;
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), MeasureError> {
        let unconnected: Vec<CallError> =
            self.calls.iter_mut().filter_map(|call| call.hang_up().err()).collect();
        for _ in 0..GOODBYE {
            // What is told now is the last, and a page may fail in leaving.
            let mut over = true;
            for call in &mut self.calls {
                over &= call.listen(Time::MAX).is_err() || call.is_over();
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
        self.natives = Natives::default();
        self.server = None;
        self.notes.call(self.relays.notes());
        self.relays = Relays::default();
        self.notes.call(self.units.notes());
        self.units = Units::default();
        failed.map_or(Ok(()), Err)
    }

    fn records(&mut self, duration: Duration) -> Option<Records> {
        let mut records =
            Records { warnings: std::mem::take(&mut self.plan.warnings), ..Records::default() };
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
        for (station, media) in self.plan.stations.iter().zip(&self.media) {
            if let Some(media) = media {
                self.notes.media(&station.name, media);
            }
        }
        records.notes = self.notes.take();
        if let Some(sampler) = self.machine.take() {
            machine::mark(&mut records, sampler, self.plan.frame_rate(), Time::ZERO + duration);
        }
        Some(records)
    }
}

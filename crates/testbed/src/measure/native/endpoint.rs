//! A native peer as a participant of a call, from its settings to its last message.

use super::NativePeerSpec;
use super::error::CallError;
use experiment::Native;
use peer::{Peer, PeerConfig, Rates, Signal, Stack};
use server::signalling::{
    CallRole, CallSettings, FromPage, IceCandidate, Membership, StatsReport, ToPage,
};
use server::since_1970;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// The largest datagram that is read, bytes: an Ethernet frame's payload.
const MAX_DATAGRAM: usize = 1_500;

/// Takes part in a call until it is over.
///
/// # Errors
/// When the peer cannot go on with the call.
pub(super) async fn run_peer(
    participant: &mut Membership,
    socket: UdpSocket,
    spec: NativePeerSpec,
) -> Result<(), CallError> {
    let socket = tokio::net::UdpSocket::from_std(socket)?;
    let Some(settings) = receive_settings(participant).await else { return Ok(()) };
    send(participant, FromPage::Ready)?;
    let Some(epoch) = receive_start(participant).await else { return Ok(()) };
    let mut end = PeerEndpoint::new(participant, socket, &spec, &settings, epoch)?;
    if spec.seat == CallRole::Caller {
        let offer = end.peer.offer(now().0)?;
        end.reply(offer)?;
    }
    end.run().await
}

/// The settings of the endpoint; `None` if the call is over first.
async fn receive_settings(participant: &mut Membership) -> Option<CallSettings> {
    loop {
        if let ToPage::Welcome { settings, .. } = participant.next().await? {
            return settings;
        }
    }
}

/// The time at which statistics begin, ms since 1970; `None` if the call is over first.
async fn receive_start(participant: &mut Membership) -> Option<f64> {
    loop {
        match participant.next().await? {
            ToPage::Start { epoch } => return Some(epoch),
            ToPage::Stop => {
                // The call is over; an error has no receiver.
                let _ = participant.take(FromPage::Bye);
                return None;
            }
            _ => {}
        }
    }
}

/// The current time, also in ms since 1970.
#[expect(clippy::disallowed_methods, reason = "a real call has real time")]
fn now() -> (Instant, f64) {
    (Instant::now(), since_1970().as_millis_f64())
}

fn send(participant: &mut Membership, message: FromPage) -> Result<(), CallError> {
    participant.take(message).map_err(|refusal| CallError::Refused(refusal.to_string()))
}

/// A native peer, its socket and its signalling.
struct PeerEndpoint<'a> {
    participant: &'a mut Membership,
    socket: tokio::net::UdpSocket,
    peer: Peer,
    state: String,
    /// The interval of statistics; `None` if they are not wanted.
    interval: Option<Duration>,
    stats_due: Instant,
}

impl<'a> PeerEndpoint<'a> {
    fn new(
        participant: &'a mut Membership,
        socket: tokio::net::UdpSocket,
        spec: &NativePeerSpec,
        settings: &CallSettings,
        epoch: f64,
    ) -> Result<Self, CallError> {
        let address = socket.local_addr()?;
        let (instant, ms) = now();
        let config = config(spec, settings, address)?;
        let peer = Peer::new(config, instant)?;
        let interval = Some(Duration::from_millis(settings.stats_interval.into()))
            .filter(|span| !span.is_zero());
        // The first sample time after now; sample times are multiples of the interval after the
        // epoch.
        let passed = interval.map_or(0.0, |span| {
            let span = span.as_secs_f64() * 1e3;
            ((ms - epoch) / span).floor().mul_add(span, epoch) + span - ms
        });
        let stats_due = instant + Duration::from_secs_f64((passed / 1e3).max(0.0));
        Ok(Self { participant, socket, peer, state: String::new(), interval, stats_due })
    }

    /// Runs the peer until the call is over.
    async fn run(mut self) -> Result<(), CallError> {
        let mut datagram = [0; MAX_DATAGRAM];
        loop {
            self.transmit().await?;
            self.report_state()?;
            let due = self
                .peer
                .next_timeout()
                .into_iter()
                .chain(self.interval.map(|_| self.stats_due))
                .min();
            let sleep = async {
                match due {
                    Some(due) => sleep_until(due.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // Timers come first: a flow of datagrams must not delay them.
                biased;
                () = sleep => self.advance()?,
                received = self.socket.recv_from(&mut datagram) => {
                    // An ICMP error from the other host arrives here: its peer may not have
                    // started, or may have ended.
                    let Ok((size, from)) = received else { continue };
                    self.peer.receive(now().0, from, &datagram[..size])?;
                }
                message = self.participant.next() => match message {
                    Some(message) => if self.take(message).await? { return Ok(()) },
                    None => return Ok(()),
                },
            }
        }
    }

    /// Handles expired timers.
    fn advance(&mut self) -> Result<(), CallError> {
        let (instant, _) = now();
        self.peer.handle_timeout(instant)?;
        if let Some(interval) = self.interval
            && self.stats_due <= instant
        {
            while self.stats_due <= instant {
                self.stats_due += interval;
            }
            self.send_stats()?;
        }
        Ok(())
    }

    /// Handles a message of the server; returns true if the call is over.
    async fn take(&mut self, message: ToPage) -> Result<bool, CallError> {
        let signal = match message {
            ToPage::Offer { sdp } => Signal::Offer(sdp),
            ToPage::Answer { sdp } => Signal::Answer(sdp),
            ToPage::Candidate { candidate: IceCandidate { candidate, .. } } => {
                Signal::Candidate(candidate)
            }
            ToPage::Stop => {
                self.send_stats()?;
                self.peer.close(now().0)?;
                self.transmit().await?;
                send(self.participant, FromPage::Bye)?;
                return Ok(true);
            }
            ToPage::Error { .. } => return Ok(true),
            _ => return Ok(false),
        };
        if let Some(reply) = self.peer.signal(now().0, signal)? {
            self.reply(reply)?;
        }
        Ok(false)
    }

    fn reply(&mut self, signal: Signal) -> Result<(), CallError> {
        let message = match signal {
            Signal::Offer(sdp) => FromPage::Offer { sdp },
            Signal::Answer(sdp) => FromPage::Answer { sdp },
            Signal::Candidate(candidate) => {
                let [sdp_mid, username_fragment] = [None, None];
                let candidate =
                    IceCandidate { candidate, sdp_mid, sdp_m_line_index: None, username_fragment };
                FromPage::Candidate { candidate }
            }
        };
        send(self.participant, message)
    }

    async fn transmit(&mut self) -> Result<(), CallError> {
        while let Some((to, bytes)) = self.peer.poll_transmit() {
            match self.socket.send_to(&bytes, to).await {
                // An ICMP error, as in `run`.
                Err(error) if error.kind() != std::io::ErrorKind::ConnectionRefused => {
                    return Err(CallError::Socket(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn report_state(&mut self) -> Result<(), CallError> {
        let state = self.peer.state().to_string();
        if state == self.state {
            return Ok(());
        }
        self.state.clone_from(&state);
        send(self.participant, FromPage::ConnectionState { state })
    }

    fn send_stats(&mut self) -> Result<(), CallError> {
        let (instant, at) = now();
        let stats = self.peer.stats(instant, at)?;
        send(self.participant, FromPage::Stats { report: StatsReport { at, stats } })
    }
}

/// The configuration of the peer.
fn config(
    spec: &NativePeerSpec,
    settings: &CallSettings,
    address: SocketAddr,
) -> Result<PeerConfig, CallError> {
    let video = spec.video.as_ref().ok_or(CallError::NoVideo)?;
    let rates = Rates {
        start: video.controller.start_rate,
        min: video.controller.min_rate.min(video.encoder.max_rate),
        max: video.controller.max_rate.min(video.encoder.max_rate),
    };
    let stack = match spec.native {
        Native::Peer => Stack::Rtc(cc::build(&video.controller)?),
        Native::Rtc => Stack::RtcGcc(rates),
        Native::Str0m => Stack::Str0m(rates),
    };
    let video = settings.sends.then(|| video.encoder.clone());
    let audio = spec.audio.clone().filter(|_| settings.sends);
    Ok(PeerConfig { address, stack, video, audio, seed: spec.seed })
}

//! The packets of one stream of a stored simulation, which is simulated again for them.

use crate::chart::columns::Columns;
use crate::messages::PacketHead;
use net::{Flow, HostId, Packet};
use sim::{Content, Options, RunError, Scenario, Simulation, Tap};
use std::collections::HashMap;
use units::Time;

/// The greatest number of packets of a view, to bound memory. Our choice: two hours at 1 Mbit/s.
const MAX_PACKETS: usize = 500_000;

/// A packet that left its sender.
struct Sent {
    at: Time,
    sequence: u64,
    bytes: u64,
    arrived: Option<Time>,
    is_retransmission: bool,
}

/// Notes when the packets of one direction leave and arrive.
struct Watch {
    flow: Option<Flow>,
    is_audio: bool,
    receiver: HostId,
    packets: Vec<Sent>,
    /// By source and sequence number, or by the sequence number of TCP, of packets under way.
    under_way: HashMap<(u32, u64), usize>,
    left_out: usize,
}

impl Tap for Watch {
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>) {
        let (key, sequence, is_retransmission) = match content {
            Content::Rtp(rtp) => {
                let is_audio = rtp.frame.count == 0 && !rtp.padding && rtp.fec.is_none();
                if is_audio != self.is_audio || rtp.fec.is_some() {
                    return;
                }
                let original = rtp.retransmission_of;
                ((rtp.ssrc, rtp.sequence), original.unwrap_or(rtp.sequence), original.is_some())
            }
            Content::Rtcp(_) | Content::Tcp(_) => return,
        };
        if Some(packet.flow) == self.flow && host == packet.flow.src {
            if self.packets.len() >= MAX_PACKETS {
                self.left_out += 1;
                return;
            }
            self.under_way.insert(key, self.packets.len());
            let bytes = packet.size.get();
            self.packets.push(Sent { at, sequence, bytes, arrived: None, is_retransmission });
        } else if host == self.receiver
            && let Some(index) = self.under_way.remove(&key)
        {
            self.packets[index].arrived = Some(at);
        }
    }
}

/// A stream that has a packet view.
struct Stream {
    name: String,
    /// The direction of its call, among those of all calls.
    direction: usize,
    is_audio: bool,
    receiver: HostId,
}

fn streams(scenario: &Scenario) -> Vec<Stream> {
    let mut all = Vec::new();
    let mut direction = 0;
    for call in &scenario.calls {
        let directions = [("", call.to), (".back", call.from)];
        for (suffix, receiver) in directions.into_iter().take(if call.two_way { 2 } else { 1 }) {
            let mut add = |kind: &str, is_audio| {
                let name = format!("{}.{kind}{suffix}", call.name);
                all.push(Stream { name, direction, is_audio, receiver });
            };
            if call.video.is_some() {
                add("video", false);
            }
            if call.audio.is_some() {
                add("audio", true);
            }
            direction += 1;
        }
    }
    all
}

/// The packets of a stream that left between `from` and `to`, as a message of columns; of the first
/// stream if `wanted` names none.
///
/// # Errors
/// As [`sim::run`].
pub(crate) fn view(
    scenario: &Scenario,
    wanted: &str,
    (from, to): (Time, Time),
) -> Result<Vec<u8>, RunError> {
    let all = streams(scenario);
    let chosen = all.iter().find(|stream| stream.name == wanted).or_else(|| all.first());
    let names = all.iter().map(|stream| stream.name.clone()).collect();
    let Some(chosen) = chosen else {
        let note = "There is no call.".to_owned();
        let (stream, lengths) = (String::new(), Vec::new());
        let head = PacketHead { stream, streams: names, lost: 0, lengths, note };
        return Ok(Columns::default().encode(&head));
    };
    let flow = Simulation::new(scenario, Options::default())?.flow(chosen.direction);
    let mut watch = Watch {
        flow,
        is_audio: chosen.is_audio,
        receiver: chosen.receiver,
        packets: Vec::new(),
        under_way: HashMap::new(),
        left_out: 0,
    };
    let options = Options { tap: Some(&mut watch), ..Options::default() };
    let mut simulation = Simulation::new(scenario, options)?;
    // A packet that left before the end of the view may arrive later.
    simulation.advance(to + units::Duration::from_secs(10))?;
    drop(simulation);
    Ok(encode(&watch, &chosen.name, names, (from, to)))
}

fn encode(watch: &Watch, stream: &str, streams: Vec<String>, (from, to): (Time, Time)) -> Vec<u8> {
    let shown: Vec<&Sent> =
        watch.packets.iter().filter(|packet| (from..=to).contains(&packet.at)).collect();
    let column = |of: &dyn Fn(&Sent) -> f64| shown.iter().map(|packet| of(packet)).collect();
    let mut columns = Columns::default();
    columns.add_values(column(&|packet| packet.at.as_secs_f64()));
    columns.add_values(column(&|packet| packet.sequence as f64));
    columns.add_values(column(&|packet| packet.bytes as f64));
    columns.add_values(column(&|packet| packet.arrived.map_or(f64::NAN, Time::as_secs_f64)));
    columns.add_values(column(&|packet| f64::from(u8::from(packet.is_retransmission))));
    let note = match watch.left_out {
        0 => String::new(),
        count => format!("{count} packets after the first {MAX_PACKETS} are left out."),
    };
    let head = PacketHead {
        stream: stream.to_owned(),
        streams,
        lost: shown.iter().filter(|packet| packet.arrived.is_none()).count(),
        lengths: columns.lengths(),
        note,
    };
    columns.encode(&head)
}

//! `[conference.NAME]`: a call of several participants, which becomes several calls. In a mesh every
//! pair has a two-way call, `NAME-alice-bob`. With a Selective Forwarding Unit (SFU) every
//! participant publishes in `NAME-alice`, and `NAME-alice-bob` is alice's stream as forwarded to bob
//! (Jansen 2016, chapter 3).

use super::name::check_name;
use super::traffic::find_host;
use super::values::positive;
use document::{Fault, Location, Node, Reader, Table, Value};
use net::NetworkConfig;
use sim::Sfu;
use units::Bitrate;

/// The default bitrate of a videoroom of Janus, 256 × 1024 bit/s (July 2016:
/// `plugins/janus_videoroom.c`).
const ROOM_BITRATE: Bitrate = Bitrate::from_bps(256 * 1024);
/// The keys of the conference itself; the others are keys of its calls.
const KEYS: [&str; 4] = ["parties", "topology", "sfu", "bitrate"];

/// The section of a call that is to be read: `[call.NAME]`, or a call of a conference.
pub(super) struct CallSection {
    /// The call's name.
    pub(super) name: String,
    /// The path in the file of the section that made the call.
    pub(super) path: String,
    /// The keys.
    pub(super) node: Node,
    /// The role of a forwarding unit in the call; `None`: no forwarding unit.
    pub(super) sfu: Option<Sfu>,
}

/// The calls of the conferences of a file, in the order of the file.
pub(super) fn read(
    top: &mut Reader<'_>,
    network: &NetworkConfig,
) -> Result<Vec<CallSection>, Fault> {
    let mut sections = Vec::new();
    for (name, node) in top.entries("conference")? {
        let path = format!("conference.{name}");
        check_name(node.location, &path, name)?;
        sections.extend(Conference::read(name, path, node, network)?.sections());
    }
    Ok(sections)
}

struct Conference<'a> {
    name: &'a str,
    path: String,
    /// The keys of the calls.
    keys: Table,
    location: Location,
    participants: Vec<String>,
    /// The forwarding unit; `None` in a mesh.
    forwarding_unit: Option<ForwardingUnit>,
}

struct ForwardingUnit {
    host: String,
    /// The bitrate that the room asks each participant for.
    bitrate: Bitrate,
}

impl<'a> Conference<'a> {
    fn read(
        name: &'a str,
        path: String,
        node: &'a Node,
        network: &NetworkConfig,
    ) -> Result<Self, Fault> {
        let mut table = Reader::new(node, &path)?;
        let participants = participants(&mut table, network)?;
        let forwarding_unit = match table.required::<String>("topology")?.as_str() {
            "mesh" => {
                for key in ["sfu", "bitrate"] {
                    if table.node(key).is_some() {
                        let suggestion = "leave it out, or write topology = \"sfu\"";
                        return Err(table.fault(key, "a mesh has no forwarding unit", suggestion));
                    }
                }
                None
            }
            "sfu" => Some(forwarding_unit(&mut table, network, &participants)?),
            other => {
                let reason = format!("there is no topology '{other}'");
                return Err(table.fault("topology", reason, "write mesh or sfu"));
            }
        };
        for key in ["from", "to", "two_way"] {
            if table.node(key).is_some() {
                return Err(table.fault(
                    key,
                    "the topology decides between which hosts calls are",
                    "leave it out",
                ));
            }
        }
        let Value::Table(mut keys) = node.value.clone() else {
            unreachable!("the reader is of a table")
        };
        keys.retain(|key| !KEYS.contains(&key));
        Ok(Self { name, path, keys, location: node.location, participants, forwarding_unit })
    }

    fn sections(&self) -> Vec<CallSection> {
        let Some(ForwardingUnit { host, bitrate }) = &self.forwarding_unit else {
            return self.mesh();
        };
        let published = self.participants.iter().map(|from| {
            let sfu = Sfu::Publish { bitrate: *bitrate };
            self.section(self.publication(from), from, host, false, Some(sfu))
        });
        let forwarded = self.participants.iter().flat_map(|from| {
            let others = self.participants.iter().filter(move |other| *other != from);
            others.map(move |to| {
                let sfu = Sfu::Forward { call: self.publication(from) };
                self.section(self.pair(from, to), host, to, false, Some(sfu))
            })
        });
        published.chain(forwarded).collect()
    }

    fn mesh(&self) -> Vec<CallSection> {
        let pairs = self.participants.iter().enumerate().flat_map(|(index, from)| {
            self.participants[index + 1..]
                .iter()
                .map(move |to| self.section(self.pair(from, to), from, to, true, None))
        });
        pairs.collect()
    }

    /// The name of the call in which a participant publishes.
    fn publication(&self, from: &str) -> String {
        format!("{}-{from}", self.name)
    }

    /// The name of the call from one participant to another.
    fn pair(&self, from: &str, to: &str) -> String {
        format!("{}-{from}-{to}", self.name)
    }

    fn section(
        &self,
        name: String,
        from: &str,
        to: &str,
        two_way: bool,
        sfu: Option<Sfu>,
    ) -> CallSection {
        let mut keys = self.keys.clone();
        let values = [
            ("from", Value::Text(from.to_owned())),
            ("to", Value::Text(to.to_owned())),
            ("two_way", Value::Bool(two_way)),
        ];
        for (key, value) in values {
            keys.insert(key, Node { value, location: self.location });
        }
        CallSection {
            name,
            path: self.path.clone(),
            node: Node { value: Value::Table(keys), location: self.location },
            sfu,
        }
    }
}

/// The hosts under `parties`.
fn participants(table: &mut Reader<'_>, network: &NetworkConfig) -> Result<Vec<String>, Fault> {
    let participants: Vec<String> = table.required("parties")?;
    for (index, host) in participants.iter().enumerate() {
        find_host(network, host).map_err(|problem| table.problem("parties", problem))?;
        if participants[..index].contains(host) {
            let reason = format!("'{host}' is named twice");
            return Err(table.fault("parties", reason, "name each host once"));
        }
    }
    if participants.len() < 2 {
        let suggestion = "write for example [\"alice\", \"bob\", \"carol\"]";
        return Err(table.fault("parties", "a conference needs at least two hosts", suggestion));
    }
    Ok(participants)
}

/// The forwarding unit under `sfu` and `bitrate`.
fn forwarding_unit(
    table: &mut Reader<'_>,
    network: &NetworkConfig,
    participants: &[String],
) -> Result<ForwardingUnit, Fault> {
    let host: String = table.required("sfu")?;
    find_host(network, &host).map_err(|problem| table.problem("sfu", problem))?;
    if participants.contains(&host) {
        let suggestion = "name another host for the forwarding unit";
        return Err(table.fault("sfu", format!("'{host}' is one of the parties"), suggestion));
    }
    let bitrate = table.or("bitrate", ROOM_BITRATE)?;
    positive(table, "bitrate", bitrate > Bitrate::ZERO)?;
    Ok(ForwardingUnit { host, bitrate })
}

#[cfg(test)]
mod tests {
    use crate::{Experiment, ExperimentError};
    use sim::{CallConfig, Scenario, Sfu};
    use units::{Bitrate, Duration, Seed};

    const HOSTS: &str =
        "title = \"t\"\nduration = \"120s\"\n[host.alice]\n[host.bob]\n[host.carol]\n[host.unit]\n";

    fn parse(lines: &str) -> Result<Experiment, ExperimentError> {
        Experiment::parse(&format!("{HOSTS}{lines}"), "x.toml")
    }

    fn scenario(lines: &str) -> Scenario {
        parse(lines).unwrap_or_else(|error| panic!("{error}")).cells()[0].scenario(Seed(1))
    }

    /// Name, caller and callee of each call.
    fn calls(scenario: &Scenario) -> Vec<String> {
        let host = |id: net::HostId| scenario.network.hosts[usize::from(id.0)].name.clone();
        let line =
            |call: &CallConfig| format!("{} {}>{}", call.name, host(call.from), host(call.to));
        scenario.calls.iter().map(line).collect()
    }

    #[test]
    fn a_mesh_is_a_two_way_call_for_every_pair() {
        let scenario = scenario(
            "[conference.main]\nparties = [\"alice\", \"bob\", \"carol\"]\ntopology = \"mesh\"\naudio = true\n",
        );
        let wanted = [
            "main-alice-bob alice>bob",
            "main-alice-carol alice>carol",
            "main-bob-carol bob>carol",
        ];
        assert_eq!(calls(&scenario), wanted);
        assert!(
            scenario
                .calls
                .iter()
                .all(|call| call.two_way && call.sfu.is_none() && call.audio.is_some())
        );
    }

    #[test]
    fn with_an_sfu_each_participant_publishes_once_and_receives_every_other() {
        let scenario = scenario(
            "[defaults.call]\ndscp = \"af41\"\n[call.side]\nfrom = \"alice\"\nto = \"bob\"\n\
             [conference.main]\nparties = [\"alice\", \"bob\"]\ntopology = \"sfu\"\nsfu = \"unit\"\n\
             bitrate = \"1Mbit/s\"\nstart = \"5s\"\n",
        );
        let wanted = [
            "side alice>bob",
            "main-alice alice>unit",
            "main-bob bob>unit",
            "main-alice-bob unit>bob",
            "main-bob-alice unit>alice",
        ];
        assert_eq!(calls(&scenario), wanted);
        let [_, published, _, forwarded, _] = &scenario.calls[..] else { panic!("five calls") };
        assert_eq!(published.sfu, Some(Sfu::Publish { bitrate: Bitrate::from_mbps(1) }));
        assert_eq!(forwarded.sfu, Some(Sfu::Forward { call: "main-alice".into() }));
        assert!(scenario.calls.iter().all(|call| !call.two_way && call.dscp.video.0 == 34));
        assert_eq!(forwarded.start, units::Time::from_secs(5));
        assert_eq!(
            (published.unit(), forwarded.unit()),
            (Some(published.to), Some(forwarded.from))
        );
    }

    const THREE: &str = "[conference.main]\nparties = [\"alice\", \"bob\", \"carol\"]\ntopology = \"mesh\"\nstop = \"60s\"\n";

    #[test]
    fn the_number_of_participants_can_be_varied() {
        let axis = "[[axis]]\nname = \"parties\"\npoints = [{ label = \"3\" }, \
                    { label = \"2\", set = { \"conference.main.parties\" = [\"alice\", \"bob\"] } }]\n";
        let experiment = parse(&format!("{THREE}{axis}")).unwrap();
        let counts: Vec<usize> =
            experiment.cells().iter().map(|cell| cell.scenario(Seed(1)).calls.len()).collect();
        assert_eq!(counts, [3, 1]);
        let other = experiment.with_controller("gcc:draft-02").unwrap();
        assert!(other.controllers().all(|controller| controller == "gcc:draft-02"));
        let quick = experiment.quick().unwrap().cells()[0].scenario(Seed(1));
        assert_eq!(
            (quick.duration, quick.calls[0].stop),
            (Duration::from_secs(60), units::Time::from_secs(30))
        );
        let set = |key: &str, value: &str| {
            experiment
                .with_overrides(&[(key.to_owned(), value.to_owned())])
                .map_err(|error| error.to_string())
        };
        set("conference.main.start", "1s").unwrap();
        assert!(
            set("conference.man.start", "1s").unwrap_err().contains("there is no conference 'man'")
        );
    }

    #[test]
    fn errors_name_the_key_and_a_suggestion() {
        let with =
            |from: &str, to: &str| parse(&THREE.replacen(from, to, 1)).unwrap_err().to_string();
        let unit = "topology = \"sfu\"\nsfu = \"unit\"";
        for (from, to, part) in [
            (
                "\"bob\", ",
                "\"bop\", ",
                "x.toml:8: conference.main.parties: there is no host 'bop'; did you mean bob?",
            ),
            ("\"bob\", \"carol\"", "\"alice\"", "'alice' is named twice; name each host once"),
            (
                ", \"bob\", \"carol\"",
                "",
                "a conference needs at least two hosts; write for example",
            ),
            (
                "\"mesh\"",
                "\"ring\"",
                "conference.main.topology: there is no topology 'ring'; write mesh or sfu",
            ),
            ("topology = \"mesh\"\n", "", "conference.main.topology: it is missing"),
            ("\"mesh\"", "\"sfu\"", "conference.main.sfu: it is missing"),
            (
                "topology = \"mesh\"",
                &unit.replace("unit", "bob"),
                "'bob' is one of the parties; name another host",
            ),
            (
                "topology = \"mesh\"",
                &unit.replace("unit", "units"),
                "there is no host 'units'; did you mean unit?",
            ),
            (
                "topology = \"mesh\"",
                &format!("{unit}\nbitrate = \"0bit/s\""),
                "conference.main.bitrate: zero is not allowed",
            ),
            (
                "stop = \"60s\"",
                "sfu = \"unit\"",
                "a mesh has no forwarding unit; leave it out, or write topology = \"sfu\"",
            ),
            (
                "stop = \"60s\"",
                "from = \"alice\"",
                "conference.main.from: the topology decides between which hosts calls are; leave it out",
            ),
            (
                "stop = \"60s\"",
                "stopp = \"60s\"",
                "conference.main.stopp: there is no such key; did you mean stop?",
            ),
            (
                "stop = \"60s\"",
                "[call.main-alice-bob]\nfrom = \"alice\"\nto = \"bob\"",
                "there are two calls 'main-alice-bob'",
            ),
        ] {
            let error = with(from, to);
            assert!(error.contains(part), "{error}, not {part}");
        }
    }
}

//! `[conference.NAME]`: a call of several parties, made into calls of two. In a mesh every pair has
//! a call of both ways, `NAME-alice-bob`; through a Selective Forwarding Unit every party publishes
//! in `NAME-alice`, and `NAME-alice-bob` is that stream as bob gets it (Jansen 2016, chapter 3).

use super::ends::{find_host, positive};
use super::hosts::check_name;
use document::{Fault, Location, Node, Reader, Table, Value};
use net::NetworkConfig;
use sim::Sfu;
use units::Bitrate;

/// What a videoroom of Janus asks for where nobody set its bitrate, 256 × 1024 bit/s (July 2016:
/// `plugins/janus_videoroom.c`).
const ROOM_BITRATE: Bitrate = Bitrate::from_bps(256 * 1024);
/// The keys that are the conference's own; the others are its calls'.
const KEYS: [&str; 4] = ["parties", "topology", "sfu", "bitrate"];

/// A call to be read: of `[call.NAME]`, or one of a conference's.
pub(super) struct Section {
    /// The call's name.
    pub(super) name: String,
    /// Where its keys stand in the file.
    pub(super) path: String,
    /// Its keys.
    pub(super) node: Node,
    /// What a forwarding unit has to do with it.
    pub(super) sfu: Option<Sfu>,
}

/// The calls of the conferences of a file, in its order.
pub(super) fn read(top: &mut Reader<'_>, network: &NetworkConfig) -> Result<Vec<Section>, Fault> {
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
    /// The keys of its calls.
    keys: Table,
    location: Location,
    parties: Vec<String>,
    /// The unit's host and the room's bitrate.
    unit: Option<(String, Bitrate)>,
}

impl<'a> Conference<'a> {
    fn read(
        name: &'a str,
        path: String,
        node: &'a Node,
        network: &NetworkConfig,
    ) -> Result<Self, Fault> {
        let mut table = Reader::new(node, &path)?;
        let parties = parties(&mut table, network)?;
        let unit = match table.required::<String>("topology")?.as_str() {
            "mesh" => {
                for key in ["sfu", "bitrate"] {
                    if table.node(key).is_some() {
                        let suggestion = "leave it out, or write topology = \"sfu\"";
                        return Err(table.fault(key, "a mesh has no forwarding unit", suggestion));
                    }
                }
                None
            }
            "sfu" => Some(unit(&mut table, network, &parties)?),
            other => {
                let reason = format!("no topology '{other}'");
                return Err(table.fault("topology", reason, "write mesh or sfu"));
            }
        };
        for key in ["from", "to", "two_way"] {
            if table.node(key).is_some() {
                return Err(table.fault(key, "the topology says who calls whom", "leave it out"));
            }
        }
        let Value::Table(mut keys) = node.value.clone() else {
            unreachable!("the reader is of a table")
        };
        keys.retain(|key| !KEYS.contains(&key));
        Ok(Self { name, path, keys, location: node.location, parties, unit })
    }

    fn sections(&self) -> Vec<Section> {
        let Some((unit, bitrate)) = &self.unit else { return self.mesh() };
        let published = self.parties.iter().map(|party| {
            let sfu = Sfu::Publish { bitrate: *bitrate };
            self.section(self.publication(party), party, unit, false, Some(sfu))
        });
        let forwarded = self.parties.iter().flat_map(|party| {
            let others = self.parties.iter().filter(move |other| *other != party);
            others.map(move |other| {
                let sfu = Sfu::Forward { call: self.publication(party) };
                self.section(self.pair(party, other), unit, other, false, Some(sfu))
            })
        });
        published.chain(forwarded).collect()
    }

    fn mesh(&self) -> Vec<Section> {
        let pairs = self.parties.iter().enumerate().flat_map(|(index, party)| {
            self.parties[index + 1..]
                .iter()
                .map(move |other| self.section(self.pair(party, other), party, other, true, None))
        });
        pairs.collect()
    }

    fn publication(&self, party: &str) -> String {
        format!("{}-{party}", self.name)
    }

    fn pair(&self, party: &str, other: &str) -> String {
        format!("{}-{party}-{other}", self.name)
    }

    fn section(
        &self,
        name: String,
        from: &str,
        to: &str,
        two_way: bool,
        sfu: Option<Sfu>,
    ) -> Section {
        let mut keys = self.keys.clone();
        let values = [
            ("from", Value::Text(from.to_owned())),
            ("to", Value::Text(to.to_owned())),
            ("two_way", Value::Bool(two_way)),
        ];
        for (key, value) in values {
            keys.insert(key, Node { value, location: self.location });
        }
        Section {
            name,
            path: self.path.clone(),
            node: Node { value: Value::Table(keys), location: self.location },
            sfu,
        }
    }
}

/// The hosts under `parties`.
fn parties(table: &mut Reader<'_>, network: &NetworkConfig) -> Result<Vec<String>, Fault> {
    let parties: Vec<String> = table.required("parties")?;
    for (index, party) in parties.iter().enumerate() {
        find_host(network, party)
            .map_err(|(reason, suggestion)| table.fault("parties", reason, suggestion))?;
        if parties[..index].contains(party) {
            return Err(table.fault(
                "parties",
                format!("'{party}' is there twice"),
                "name each host once",
            ));
        }
    }
    if parties.len() < 2 {
        let suggestion = "write two hosts or more, such as [\"alice\", \"bob\", \"carol\"]";
        return Err(table.fault("parties", "nobody to talk to", suggestion));
    }
    Ok(parties)
}

/// The unit's host under `sfu`, and the room's bitrate.
fn unit(
    table: &mut Reader<'_>,
    network: &NetworkConfig,
    parties: &[String],
) -> Result<(String, Bitrate), Fault> {
    let host: String = table.required("sfu")?;
    find_host(network, &host)
        .map_err(|(reason, suggestion)| table.fault("sfu", reason, suggestion))?;
    if parties.contains(&host) {
        let suggestion = "give the forwarding unit a host of its own";
        return Err(table.fault("sfu", format!("'{host}' is one of the parties"), suggestion));
    }
    let bitrate = table.or("bitrate", ROOM_BITRATE)?;
    positive(table, "bitrate", bitrate > Bitrate::ZERO)?;
    Ok((host, bitrate))
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use sim::{CallConfig, Scenario, Sfu};
    use units::{Bitrate, Duration, Seed};

    const HOSTS: &str =
        "title = \"t\"\nduration = \"120s\"\n[host.alice]\n[host.bob]\n[host.carol]\n[host.unit]\n";

    fn parse(lines: &str) -> Result<Experiment, String> {
        Experiment::parse(&format!("{HOSTS}{lines}"), "x.toml").map_err(|error| error.to_string())
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
    fn a_mesh_is_a_call_both_ways_of_every_pair() {
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
    fn through_a_unit_each_publishes_once_and_gets_every_other() {
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
    fn the_number_of_parties_varies_and_the_rest_follows() {
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
    fn what_is_wrong_is_named_with_its_suggestion() {
        let with = |from: &str, to: &str| parse(&THREE.replacen(from, to, 1)).unwrap_err();
        let unit = "topology = \"sfu\"\nsfu = \"unit\"";
        for (from, to, said) in [
            (
                "\"bob\", ",
                "\"bop\", ",
                "x.toml:8: conference.main.parties: there is no host 'bop'; did you mean bob?",
            ),
            ("\"bob\", \"carol\"", "\"alice\"", "'alice' is there twice; name each host once"),
            (", \"bob\", \"carol\"", "", "nobody to talk to; write two hosts or more"),
            (
                "\"mesh\"",
                "\"ring\"",
                "conference.main.topology: no topology 'ring'; write mesh or sfu",
            ),
            ("topology = \"mesh\"\n", "", "conference.main.topology: it is missing"),
            ("\"mesh\"", "\"sfu\"", "conference.main.sfu: it is missing"),
            (
                "topology = \"mesh\"",
                &unit.replace("unit", "bob"),
                "'bob' is one of the parties; give the forwarding unit",
            ),
            (
                "topology = \"mesh\"",
                &unit.replace("unit", "units"),
                "there is no host 'units'; did you mean unit?",
            ),
            (
                "topology = \"mesh\"",
                &format!("{unit}\nbitrate = \"0bit/s\""),
                "conference.main.bitrate: zero",
            ),
            (
                "stop = \"60s\"",
                "sfu = \"unit\"",
                "a mesh has no forwarding unit; leave it out, or write topology = \"sfu\"",
            ),
            (
                "stop = \"60s\"",
                "from = \"alice\"",
                "conference.main.from: the topology says who calls whom; leave it out",
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
            assert!(error.contains(said), "{error}, not {said}");
        }
    }
}

//! Remedies of the operator of an LTE network.

use super::{Edits, Remedy, RemedyKind, Unfit, marks, path};
use crate::remedies::Situation;
use net::HostId;
use sim::CallConfig;
use units::Bitrate;

/// The guaranteed rate of the dedicated bearer over the media rate, for the headers of IP, UDP and
/// RTP and for retransmissions. Our choice.
const HEADERS: f64 = 1.1;

pub(super) fn remedies() -> Vec<Remedy> {
    vec![
        at_default_bearer(
            "bearer-codel",
            "CoDel as the queue of the default bearer",
            "Kilinc and Andersson 2014 § 4.2",
            "queue",
            "codel",
        ),
        at_default_bearer(
            "bearer-fq_codel",
            "FQ-CoDel as the queue of the default bearer",
            "RFC 8290; Janczukowicz 2017 § 7.6.1",
            "queue",
            "fq_codel",
        ),
        at_default_bearer(
            "discard-timer",
            "drop packets that wait for 300 ms in the default bearer",
            "TS 36.323 § 5.4; TS 36.331 § 6.3.2 (discardTimer)",
            "discard_timer",
            "300ms",
        ),
        Remedy::new(
            ("dedicated-bearer", RemedyKind::Lte),
            "dedicated bearer (QCI 2) for the judged call, by DSCP, with its maximum rate guaranteed",
            "TS 23.203 table 6.1.7; Guerrero Viveros 2019 § 7.2",
            dedicated_bearer,
        ),
    ]
}

/// The LTE networks that the call passes.
fn networks(situation: &Situation) -> Result<&[String], Unfit> {
    if situation.lte.is_empty() {
        return Err(Unfit::NoLte);
    }
    if !situation.advise.radio {
        return Err(Unfit::NotOwnBaseStation);
    }
    Ok(&situation.lte)
}

fn at_default_bearer(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    key: &'static str,
    value: &'static str,
) -> Remedy {
    Remedy::new((name, RemedyKind::Lte), about, source, move |situation: &Situation| {
        let at = |network: &String| {
            (path("lte", network, &format!("bearer.default.{key}")), value.to_owned())
        };
        Ok(Edits { set: networks(situation)?.iter().map(at).collect(), lines: Vec::new() })
    })
}

fn dedicated_bearer(situation: &Situation) -> Result<Edits, Unfit> {
    let networks = networks(situation)?;
    let config =
        |name: &String| situation.scenario.network.lte.iter().find(|network| network.name == *name);
    if networks.iter().filter_map(config).any(|network| network.bearers.len() > 1) {
        return Err(Unfit::DedicatedBearer);
    }
    let of_call = |call: &CallConfig| {
        let video = call.video.as_ref().map(|video| video.encoder.max_rate);
        let audio = call.audio.as_ref().map(|audio| audio.rate);
        video.into_iter().chain(audio).map(Bitrate::as_bps).sum::<u64>()
    };
    // A terminal has one dedicated bearer for all its calls.
    let calls: Vec<&CallConfig> = situation.calls(&situation.call).collect();
    let of_host = |host: HostId| -> u64 {
        calls
            .iter()
            .filter(|call| call.from == host || call.to == host)
            .map(|call| of_call(call))
            .sum()
    };
    let hosts = (0..).zip(&situation.scenario.network.hosts);
    let terminals = hosts.filter(|(_, host)| host.access.lte_network().is_some());
    let most = terminals.map(|(index, _)| of_host(HostId(index))).max().unwrap_or(0);
    let gbr = Bitrate::from_bps(most).scale(HEADERS);
    let bearer = format!(
        "{{ qci = 2, gbr = \"{gbr}\", filter = [{{ dscp = \"af41\" }}, {{ dscp = \"ef\" }}] }}"
    );
    let mut set: Vec<_> = networks
        .iter()
        .map(|network| (path("lte", network, "bearer.call"), bearer.clone()))
        .collect();
    set.extend(marks(situation, vec![&situation.call])?);
    Ok(Edits { set, lines: Vec::new() })
}

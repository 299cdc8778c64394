//! Remedies at the access point. The stations need no change (Guerrero Viveros 2019 § 7.2).

use super::{Edits, Remedy, RemedyKind, Unfit, marks, path};
use crate::remedies::Situation;

/// Packets in the driver of an access point with a short queue: one aggregate in transmission and
/// one in preparation. Our choice.
const DRIVER: &str = "16";

/// The queue of a station in Linux (`net/mac80211/tx.c`: CoDel target 20 ms).
const MAC80211: &str = "fq_codel target 20ms";

pub(super) fn remedies() -> Vec<Remedy> {
    vec![
        Remedy::new(
            ("wmm", RemedyKind::Wifi),
            "WMM: access categories by DSCP; marks calls",
            "IEEE 802.11-2016 § 10.22.2; Guerrero Viveros 2019 § 7.2",
            |situation| Ok(edits([edca(situation)?, marks(situation, situation.every_call())?])),
        ),
        Remedy::new(
            ("per-station", RemedyKind::Wifi),
            "one FQ-CoDel queue per station, with airtime fairness",
            "Høiland-Jørgensen et al. 2017; Guerrero Viveros 2019 § 7.2",
            |situation| Ok(edits([per_station(situation)?])),
        ),
        Remedy::new(
            ("wmm-per-station", RemedyKind::Wifi),
            "WMM with marked calls, and one FQ-CoDel queue per station with airtime fairness",
            "IEEE 802.11-2016 § 10.22.2; Høiland-Jørgensen et al. 2017; Guerrero Viveros 2019 § 7.2",
            |situation| {
                let marks = marks(situation, situation.every_call());
                Ok(edits([edca(situation)?, per_station(situation)?, marks?]))
            },
        ),
        Remedy::new(
            ("ap-fq_codel", RemedyKind::Wifi),
            "FQ-CoDel in the access point; its driver holds 16 packets",
            "RFC 8290; Guerrero Viveros 2019 § 7.2",
            |situation| {
                Ok(edits([
                    at_cells(situation, "ap.buffer", "shared")?,
                    at_cells(situation, "ap.queue", "fq_codel")?,
                    at_cells(situation, "ap.driver", DRIVER)?,
                ]))
            },
        ),
        Remedy::new(
            ("ap-short-buffer", RemedyKind::Wifi),
            "FIFO of 100 packets in the access point; its driver holds 16 packets",
            "Guerrero Viveros 2019 § 7.1 (the long buffers of access devices)",
            |situation| {
                Ok(edits([
                    at_cells(situation, "ap.buffer", "shared")?,
                    at_cells(situation, "ap.queue", "pfifo limit 100")?,
                    at_cells(situation, "ap.driver", DRIVER)?,
                ]))
            },
        ),
    ]
}

fn edca(situation: &Situation) -> Result<Vec<(String, String)>, Unfit> {
    at_cells(situation, "channel_access", "edca")
}

fn per_station(situation: &Situation) -> Result<Vec<(String, String)>, Unfit> {
    let mut set = at_cells(situation, "ap.buffer", "per station")?;
    set.extend(at_cells(situation, "ap.queue", MAC80211)?);
    Ok(set)
}

fn edits<const N: usize>(sets: [Vec<(String, String)>; N]) -> Edits {
    Edits { set: sets.into_iter().flatten().collect(), lines: Vec::new() }
}

/// Sets a key of every Wi-Fi cell that the call passes.
fn at_cells(situation: &Situation, key: &str, value: &str) -> Result<Vec<(String, String)>, Unfit> {
    if situation.wifi.is_empty() {
        return Err(Unfit::NoWifi);
    }
    if !situation.advise.radio {
        return Err(Unfit::NotOwnAccessPoint);
    }
    Ok(situation.wifi.iter().map(|cell| (path("wifi", cell, key), value.to_owned())).collect())
}

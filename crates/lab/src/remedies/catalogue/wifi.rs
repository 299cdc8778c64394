//! Another access point, or another setting of it: nothing at the stations has to change (Guerrero
//! Viveros 2019 § 7.2).

use super::{Edits, Kind, Remedy, Unfit, marks, path};
use crate::remedies::Situation;

/// Packets in the driver behind a short queue: an aggregate on the air and one that is made. Ours.
const DRIVER: &str = "16";

/// The queue of each station in Linux (`net/mac80211/tx.c`: codel's target of 20 ms).
const MAC80211: &str = "fq_codel target 20ms";

pub(super) fn remedies() -> Vec<Remedy> {
    vec![
        Remedy::new(
            ("wmm", Kind::Wifi),
            "WMM: access categories by DSCP, calls marked",
            "IEEE 802.11-2016 § 10.22.2; Guerrero Viveros 2019 § 7.2",
            |situation| Ok(edits([edca(situation)?, marks(situation, situation.every_call())?])),
        ),
        Remedy::new(
            ("per-station", Kind::Wifi),
            "a queue with FQ-CoDel for each station, in turn by airtime",
            "Høiland-Jørgensen et al. 2017; Guerrero Viveros 2019 § 7.2",
            |situation| Ok(edits([per_station(situation)?])),
        ),
        Remedy::new(
            ("wmm-per-station", Kind::Wifi),
            "WMM, calls marked, and a queue with FQ-CoDel for each station, in turn by airtime",
            "IEEE 802.11-2016 § 10.22.2; Høiland-Jørgensen et al. 2017; Guerrero Viveros 2019 § 7.2",
            |situation| {
                let marks = marks(situation, situation.every_call());
                Ok(edits([edca(situation)?, per_station(situation)?, marks?]))
            },
        ),
        Remedy::new(
            ("ap-fq_codel", Kind::Wifi),
            "FQ-CoDel before the driver of the access point, which holds 16 packets",
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
            ("ap-short-buffer", Kind::Wifi),
            "a FIFO of 100 packets before the driver of the access point, which holds 16",
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

/// A value of every cell that the call passes.
fn at_cells(situation: &Situation, key: &str, value: &str) -> Result<Vec<(String, String)>, Unfit> {
    if situation.wifi.is_empty() {
        return Err(Unfit("no Wi-Fi on the call's way".to_owned()));
    }
    if !situation.advise.radio {
        return Err(Unfit("the access point is not one's own: advise.radio is false".to_owned()));
    }
    Ok(situation.wifi.iter().map(|cell| (path("wifi", cell, key), value.to_owned())).collect())
}

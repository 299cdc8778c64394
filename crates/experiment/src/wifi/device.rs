//! The keys of a device, which access points and stations share.

use crate::values::{choice, queue, within};
use document::{Fault, Reader};
use net::{
    Buffer, CodelParameters, DriverOrder, FqCodelConfig, GuardInterval, QueueConfig, RateControl,
    WifiDevice,
};
use std::ops::RangeInclusive;
use units::{Dbm, Duration};

/// The numbers of spatial streams that are modelled.
const STREAMS: RangeInclusive<u8> = 1..=2;
/// The MCS of one or two spatial streams with equal modulation (IEEE 802.11-2016 § 19.5).
const SCHEMES: RangeInclusive<u8> = 0..=15;
/// The number of MCS per number of spatial streams.
const SCHEMES_PER_STREAM: u8 = 8;
/// The maximum number of packets in a driver, far more than any ring has.
const MAX_DRIVER: u32 = 100_000;

/// Reads the keys of a device from a table that may have others.
pub(super) fn read(table: &mut Reader<'_>) -> Result<WifiDevice, Fault> {
    let usual = WifiDevice::default();
    let (tx_power, noise): (Dbm, Dbm) =
        (table.or("tx_power", usual.tx_power)?, table.or("noise", usual.noise)?);
    if noise >= tx_power {
        let reason = format!("{noise} is not below tx_power, {tx_power}");
        return Err(table.fault("noise", reason, "write a lower noise, or a higher tx_power"));
    }
    let spatial_streams = within(table, "spatial_streams", usual.spatial_streams, STREAMS)?;
    let guards = [("800ns", GuardInterval::Long), ("400ns", GuardInterval::Short)];
    let guard_interval = choice(table, "guard_interval", &guards)?;
    let rate = rate(table, spatial_streams)?;
    let buffer = buffer(table)?;
    let msdu_lifetime: Option<Duration> = table.optional("msdu_lifetime")?;
    if msdu_lifetime == Some(Duration::ZERO) {
        let suggestion = "write a longer one, or leave it out for no limit";
        return Err(table.fault("msdu_lifetime", "no packet is sent within 0s", suggestion));
    }
    Ok(WifiDevice { tx_power, noise, spatial_streams, guard_interval, rate, buffer, msdu_lifetime })
}

/// The rate control: `minstrel`, or for example `mcs 7` for a fixed MCS.
fn rate(table: &mut Reader<'_>, streams: u8) -> Result<RateControl, Fault> {
    let Some(word) = table.optional::<String>("rate")? else { return Ok(RateControl::Minstrel) };
    if word == "minstrel" {
        return Ok(RateControl::Minstrel);
    }
    let scheme = word.strip_prefix("mcs ").and_then(|number| number.trim().parse::<u8>().ok());
    let Some(scheme) = scheme.filter(|scheme| SCHEMES.contains(scheme)) else {
        let suggestion =
            format!("write minstrel, or \"mcs {}\" to \"mcs {}\"", SCHEMES.start(), SCHEMES.end());
        return Err(table.fault("rate", format!("there is no rate '{word}'"), suggestion));
    };
    let needed = scheme / SCHEMES_PER_STREAM + 1;
    if needed > streams {
        let reason = format!("mcs {scheme} needs {needed} spatial streams, but there is {streams}");
        let suggestion = format!(
            "write \"mcs {}\" or below, or spatial_streams = {needed}",
            SCHEMES_PER_STREAM - 1
        );
        return Err(table.fault("rate", reason, suggestion));
    }
    Ok(RateControl::Fixed(scheme))
}

/// The buffer: one queue followed by the driver's buffer, or one queue per receiver.
fn buffer(table: &mut Reader<'_>) -> Result<Buffer, Fault> {
    let shared = choice(table, "buffer", &[("shared", true), ("per station", false)])?;
    let queue = queue(table, "queue")?;
    let packets: Option<u32> = table.optional("driver")?;
    let orders = [("round robin", DriverOrder::RoundRobin), ("fifo", DriverOrder::Fifo)];
    // Without effect on one queue per receiver, so that it can be set for all cells of a grid.
    let order = choice(table, "driver_order", &orders)?;
    let Buffer::Shared { queue: usual, driver, .. } = Buffer::default() else {
        unreachable!("the usual buffer is shared")
    };
    if !shared {
        if packets.is_some() {
            let reason = "with buffer = \"per station\" no packets wait in the driver";
            let suggestion = "leave it out, or write buffer = \"shared\"";
            return Err(table.fault("driver", reason, suggestion));
        }
        let queue = queue.unwrap_or_else(|| QueueConfig::FqCodel(mac80211()));
        return Ok(Buffer::PerStation { queue });
    }
    let driver = packets.unwrap_or(driver);
    if !(1..=MAX_DRIVER).contains(&driver) {
        return Err(table.fault(
            "driver",
            format!("{driver} is out of range"),
            format!("write 1 to {MAX_DRIVER}"),
        ));
    }
    Ok(Buffer::Shared { queue: queue.unwrap_or(usual), driver, order })
}

/// Linux's queue per station (Høiland-Jørgensen et al. 2017, § 3.1; `net/mac80211/tx.c`,
/// `ieee80211_txq_setup_flows`).
fn mac80211() -> FqCodelConfig {
    let usual = FqCodelConfig::default();
    let times = CodelParameters {
        target: Duration::from_millis(20),
        interval: Duration::from_millis(100),
        ..usual.codel
    };
    FqCodelConfig { codel: times, ..usual }
}

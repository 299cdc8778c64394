//! `[wifi.NAME]` and the key `wifi` of a host: 802.11n cells and their stations.

mod device;
mod station;
#[cfg(test)]
mod tests;

pub(super) use station::read as read_station;

use super::name::check_name;
use super::technology::Technology;
use super::values::{choice, within};
use document::{Fault, Location, Node, Reader, Value};
use net::{Aggregation, ChannelAccess, ChannelWidth, HostConfig, PathLoss, WifiConfig, WifiDevice};
use std::ops::RangeInclusive;
use units::{Bytes, Decibels, Duration};

/// Wi-Fi as experiment files and errors name it.
pub(super) const TECHNOLOGY: Technology =
    Technology { key: "wifi", name: "Wi-Fi", section: "cell", member_of: "a Wi-Fi cell" };

/// The channels of the 2.4 GHz band in steps of 5 MHz (IEEE 802.11-2016 § 19.3.15); channel 14
/// is used in Japan only and without OFDM.
const CHANNELS: RangeInclusive<u8> = 1..=13;
/// The frames that a compressed block ACK can acknowledge (IEEE 802.11-2016 § 9.3.1.9.3).
const AMPDU_FRAMES: RangeInclusive<u8> = 1..=64;
/// The longest A-MPDU and A-MSDU of HT (IEEE 802.11-2016 § 9.4.2.56.2, § 9.4.2.56.3).
const AMPDU_BYTES: Bytes = Bytes::new(65_535);
const AMSDU_BYTES: Bytes = Bytes::new(7_935);
/// dot11ShortRetryLimit (IEEE 802.11-2016 annex C).
const RETRY_LIMIT: RangeInclusive<u8> = 1..=255;
/// Published for buildings are 1.6 to 6 (Rappaport 2002 table 4.2); the range is somewhat wider.
const EXPONENTS: RangeInclusive<f64> = 1.0..=8.0;

/// The cells of a document, in the order of the file.
pub(super) fn read_cells(top: &mut Reader<'_>) -> Result<Vec<(WifiConfig, Location)>, Fault> {
    let entries = top.entries("wifi")?.into_iter();
    entries.map(|(name, node)| Ok((cell(name, node)?, node.location))).collect()
}

/// Refuses a cell without a host.
pub(super) fn check_used(
    cells: &[(WifiConfig, Location)],
    hosts: &[HostConfig],
) -> Result<(), Fault> {
    let used = |index| hosts.iter().any(|host| host.access.wifi_cell() == Some(index));
    let Some((_, (cell, location))) = cells.iter().enumerate().find(|(index, _)| !used(*index))
    else {
        return Ok(());
    };
    let suggestion = format!(
        "write wifi = {{ cell = \"{}\", distance = \"5m\" }} in a host, or leave the cell out",
        cell.name
    );
    Err(Fault::new(*location, format!("wifi.{}", cell.name), "no host is in this cell", suggestion))
}

fn cell(name: &str, node: &Node) -> Result<WifiConfig, Fault> {
    let path = format!("wifi.{name}");
    check_name(node.location, &path, name)?;
    let mut table = Reader::new(node, &path)?;
    let usual = WifiConfig::default();
    let channel = within(&mut table, "channel", usual.channel, CHANNELS)?;
    let widths = [("20MHz", ChannelWidth::Mhz20), ("40MHz", ChannelWidth::Mhz40)];
    let width = choice(&mut table, "channel_width", &widths)?;
    let accesses = [("dcf", ChannelAccess::Dcf), ("edca", ChannelAccess::Edca)];
    let access = choice(&mut table, "channel_access", &accesses)?;
    let aggregation = aggregation(&mut table)?;
    let retry_limit = match table.node("retry_limit") {
        Some(_) => Some(within(&mut table, "retry_limit", 1, RETRY_LIMIT)?),
        None => usual.retry_limit,
    };
    let ccmp = choice(&mut table, "encryption", &[("wpa2", true), ("none", false)])?;
    let path_loss = match table.node("path_loss") {
        Some(node) => path_loss(node, &table.path("path_loss"))?,
        None => PathLoss::default(),
    };
    let ap = match table.node("ap") {
        Some(node) => access_point(node, &table.path("ap"))?,
        None => WifiDevice::default(),
    };
    table.finish()?;
    let name = name.to_owned();
    Ok(WifiConfig { name, channel, width, access, aggregation, retry_limit, ccmp, path_loss, ap })
}

fn access_point(node: &Node, path: &str) -> Result<WifiDevice, Fault> {
    let mut table = Reader::new(node, path)?;
    let device = device::read(&mut table)?;
    table.finish()?;
    Ok(device)
}

/// The limits under `aggregation`, or the word `none`.
fn aggregation(table: &mut Reader<'_>) -> Result<Aggregation, Fault> {
    let path = table.path("aggregation");
    let usual = Aggregation::default();
    let node = match table.node("aggregation") {
        None => return Ok(usual),
        Some(Node { value: Value::Text(word), .. }) if word == "none" => {
            return Ok(Aggregation { ampdu_frames: 1, amsdu_bytes: Bytes::ZERO, ..usual });
        }
        Some(node @ Node { value: Value::Table(_), .. }) => node,
        Some(node) => {
            let reason = format!("{} where a table of limits belongs", node.value.what());
            let suggestion = "write { ampdu_frames = 64, ampdu_duration = \"4ms\" }, or \"none\"";
            return Err(table.fault("aggregation", reason, suggestion));
        }
    };
    let mut table = Reader::new(node, &path)?;
    let ampdu_frames = within(&mut table, "ampdu_frames", usual.ampdu_frames, AMPDU_FRAMES)?;
    let ampdu_bytes = table.or("ampdu_bytes", usual.ampdu_bytes)?;
    if ampdu_bytes == Bytes::ZERO || ampdu_bytes > AMPDU_BYTES {
        let reason = format!("{ampdu_bytes} is out of range");
        return Err(table.fault(
            "ampdu_bytes",
            reason,
            format!("write 1B to {}B", AMPDU_BYTES.get()),
        ));
    }
    let ampdu_duration = table.or("ampdu_duration", usual.ampdu_duration)?;
    if ampdu_duration == Duration::ZERO || ampdu_duration > Aggregation::LONGEST {
        let reason = format!("{ampdu_duration} is out of range");
        return Err(table.fault(
            "ampdu_duration",
            reason,
            format!("write a time up to {}", Aggregation::LONGEST),
        ));
    }
    let amsdu_bytes = table.or("amsdu_bytes", usual.amsdu_bytes)?;
    if amsdu_bytes > AMSDU_BYTES {
        let reason = format!("{amsdu_bytes} is out of range");
        return Err(table.fault(
            "amsdu_bytes",
            reason,
            format!("write 0B (none) to {}B", AMSDU_BYTES.get()),
        ));
    }
    if ampdu_frames > 1 && amsdu_bytes > Aggregation::AMSDU_IN_AMPDU {
        let reason = format!("{amsdu_bytes} does not fit into a frame of an A-MPDU");
        let suggestion =
            format!("write up to {}B, or ampdu_frames = 1", Aggregation::AMSDU_IN_AMPDU.get());
        return Err(table.fault("amsdu_bytes", reason, suggestion));
    }
    table.finish()?;
    Ok(Aggregation { ampdu_frames, ampdu_bytes, ampdu_duration, amsdu_bytes })
}

fn path_loss(node: &Node, path: &str) -> Result<PathLoss, Fault> {
    let mut table = Reader::new(node, path)?;
    let usual = PathLoss::default();
    let exponent = table.or("exponent", usual.exponent)?;
    if !EXPONENTS.contains(&exponent) {
        let suggestion =
            format!("write {} to {}; 2 is free space", EXPONENTS.start(), EXPONENTS.end());
        return Err(table.fault("exponent", format!("{exponent} is out of range"), suggestion));
    }
    let wall = table.or("wall", usual.wall)?;
    if wall < Decibels::ZERO {
        return Err(table.fault(
            "wall",
            "the loss of a wall must not be negative",
            "write for example \"5dB\"",
        ));
    }
    table.finish()?;
    Ok(PathLoss { exponent, wall })
}

//! The bearers of the emulated cell, established and released through the emulator's control socket.

use super::pcrf::{BearerControl, BearerRequest};
use net::RlcMode;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// A control socket (`emulator::Controls`).
pub(super) struct ControlSocket(pub(super) PathBuf);

impl ControlSocket {
    /// Sends a request; returns the lines of the answer before its `ok`.
    fn ask(&self, request: &str) -> Result<Vec<String>, String> {
        let mut lines = self.exchange(request).map_err(|error| format!("no control: {error}"))?;
        match lines.pop() {
            Some(last) if last == "ok" => Ok(lines),
            Some(last) => Err(last.trim_start_matches("error: ").to_owned()),
            None => Err("no control: the run has ended".to_owned()),
        }
    }

    fn exchange(&self, request: &str) -> io::Result<Vec<String>> {
        let mut socket = UnixStream::connect(&self.0)?;
        writeln!(socket, "{request}")?;
        socket.shutdown(Shutdown::Write)?;
        BufReader::new(socket).lines().collect()
    }
}

/// The request for a bearer.
fn request(host: &str, bearer: &BearerRequest) -> String {
    let rlc = match bearer.rlc {
        RlcMode::Acknowledged => "am",
        RlcMode::Unacknowledged => "um",
    };
    let (qci, gbr) = (bearer.qci, bearer.gbr.as_bps());
    let mut text = format!("bearer establish {host} qci={qci} gbr={gbr}bit/s rlc={rlc}");
    for filter in &bearer.component.filters {
        text.push_str(&format!(" filter={filter}"));
    }
    text
}

impl BearerControl for ControlSocket {
    fn establish(&self, host: &str, bearer: &BearerRequest) -> Result<usize, String> {
        let lines = self.ask(&request(host, bearer))?;
        let number = lines.iter().find_map(|line| line.strip_prefix("bearer ")?.parse().ok());
        number.ok_or_else(|| "the emulator gave no number of a bearer".to_owned())
    }

    fn release(&self, host: &str, number: usize) -> Result<(), String> {
        self.ask(&format!("bearer release {host} {number}")).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::ims::media::{MediaComponent, MediaType};
    use emulator::{Request, parse_request};
    use units::Bitrate;

    #[test]
    fn the_emulator_understands_the_request() {
        let filters = ["udp/10.0.0.9:30000/10.0.0.1:5000", "udp/10.0.0.1:5000/10.0.0.9:30000"];
        let bandwidth = Bitrate::from_kbps(2_750);
        let component = MediaComponent {
            kind: MediaType::Video,
            bandwidth,
            filters: filters.iter().map(|text| text.parse().unwrap()).collect(),
        };
        let bearer =
            BearerRequest { qci: 2, gbr: bandwidth, rlc: RlcMode::Unacknowledged, component };
        let parsed = parse_request(&request("phone", &bearer), &["phone".to_owned()]).unwrap();
        let Request::Establish(host, config) = parsed else { panic!("{parsed:?}") };
        assert_eq!((host.0, config.qci, config.gbr), (0, 2, Some(bandwidth)));
        assert_eq!((config.rlc, config.filters.len()), (RlcMode::Unacknowledged, 2));
    }
}

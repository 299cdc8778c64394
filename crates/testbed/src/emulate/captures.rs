//! A pcapng file per interface, written by a thread of its own: the loop only hands packets over.

use net::HostId;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use store::export::{ExportError, ExportFault, pcapng::Capture};
use units::{Duration, Time};

/// Packets that may wait for the disk, at most 100 MB of them.
const WAITING: usize = 65_536;

struct Seen {
    at: Time,
    host: HostId,
    bytes: Vec<u8>,
}

/// The files of a run under way.
pub(super) struct Captures {
    seen: SyncSender<Seen>,
    writer: JoinHandle<Result<(), ExportError>>,
    /// Since 1970, when the run began.
    began: Duration,
    lost: u64,
}

impl Captures {
    /// Opens `DIR/HOST.pcapng` for each host.
    pub(super) fn open(folder: &Path, hosts: &[String]) -> Result<Self, ExportError> {
        std::fs::create_dir_all(folder).map_err(|error| at(folder, error.into()))?;
        let files = hosts.iter().map(|host| {
            let path = folder.join(format!("{host}.pcapng"));
            let file = File::create(&path).map_err(|error| at(&path, error.into()))?;
            Capture::new(BufWriter::new(file), std::slice::from_ref(host))
        });
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let (seen, packets) = sync_channel(WAITING);
        let writer = std::thread::spawn(move || write(&packets, files));
        Ok(Self { seen, writer, began: Duration::ZERO, lost: 0 })
    }

    /// The run begins, at this time since 1970.
    pub(super) fn begin(&mut self, began: Duration) {
        self.began = began;
    }

    /// A packet passed a host's interface.
    pub(super) fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        let seen = Seen { at: at + self.began, host, bytes: bytes.to_vec() };
        if self.seen.try_send(seen).is_err() {
            self.lost += 1;
        }
    }

    /// Waits for the disk. Gives how many packets are not in the files because it was too slow.
    pub(super) fn finish(self) -> Result<u64, ExportError> {
        drop(self.seen);
        let written = self.writer.join();
        written.unwrap_or_else(|_| Err(ExportFault::WriterPanicked.into()))?;
        Ok(self.lost)
    }
}

fn at(path: &Path, error: ExportError) -> ExportError {
    ExportError { path: Some(path.to_owned()), ..error }
}

fn write<W: Write>(
    packets: &Receiver<Seen>,
    mut files: Vec<Capture<W>>,
) -> Result<(), ExportError> {
    for seen in packets {
        files[usize::from(seen.host.0)].ip(seen.at, 0, seen.bytes)?;
    }
    for file in files {
        file.finish()?.flush()?;
    }
    Ok(())
}

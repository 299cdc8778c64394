//! One pcapng file per host interface. A separate thread writes the files, so that the real-time
//! loop does not wait for the disk.

use net::HostId;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use store::export::{ExportError, ExportFault, pcapng::Capture};
use units::{Duration, Time};

/// Packets that may wait for the disk: at most 100 MB.
const MAX_QUEUED: usize = 65_536;

struct CapturedPacket {
    at: Time,
    host: HostId,
    bytes: Vec<u8>,
}

/// The open capture files of a run.
pub(super) struct Captures {
    queue: SyncSender<CapturedPacket>,
    writer: JoinHandle<Result<(), ExportError>>,
    /// The time since 1970 at which the run began.
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
        let (queue, packets) = sync_channel(MAX_QUEUED);
        let writer = std::thread::spawn(move || write(&packets, files));
        Ok(Self { queue, writer, began: Duration::ZERO, lost: 0 })
    }

    /// Sets the time since 1970 at which the run begins.
    pub(super) fn begin(&mut self, began: Duration) {
        self.began = began;
    }

    /// Records a packet that passed the interface of a host. A packet that does not fit in the
    /// queue is counted as lost.
    pub(super) fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        let packet = CapturedPacket { at: at + self.began, host, bytes: bytes.to_vec() };
        if self.queue.try_send(packet).is_err() {
            self.lost += 1;
        }
    }

    /// Waits until all packets are written. Returns the number of packets that are missing because
    /// the disk was too slow.
    pub(super) fn finish(self) -> Result<u64, ExportError> {
        drop(self.queue);
        let written = self.writer.join();
        written.unwrap_or_else(|_| Err(ExportFault::WriterPanicked.into()))?;
        Ok(self.lost)
    }
}

fn at(path: &Path, error: ExportError) -> ExportError {
    ExportError { path: Some(path.to_owned()), ..error }
}

fn write<W: Write>(
    packets: &Receiver<CapturedPacket>,
    mut files: Vec<Capture<W>>,
) -> Result<(), ExportError> {
    for packet in packets {
        files[usize::from(packet.host.0)].ip(packet.at, 0, packet.bytes)?;
    }
    for file in files {
        file.finish()?.flush()?;
    }
    Ok(())
}

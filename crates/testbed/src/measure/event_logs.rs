//! The logs that Chromium itself writes of its peer connections ([`crate::event_log`]).

use super::MeasureError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The extension of a kept log.
const EXTENSION: &str = "rtclog";

/// The folder of the logs of a run. While the run lasts, each host has a folder in it, because
/// Chromium names logs by the minute, its process and a counter, which may be the same on two
/// hosts.
pub(super) struct EventLogs {
    folder: PathBuf,
}

impl EventLogs {
    /// Creates the folder.
    pub(super) fn create(folder: &Path) -> Result<Self, MeasureError> {
        let failed = |error| MeasureError::EventLogs { path: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(failed)?;
        // The browser does not run in the folder of this process.
        Ok(Self { folder: fs::canonicalize(folder).map_err(failed)? })
    }

    fn path_of(&self, host: &str) -> PathBuf {
        self.folder.join(format!("{host}.{EXTENSION}.d"))
    }

    /// Creates the folder into which the browser of a host writes.
    pub(super) fn folder_of(&self, host: &str) -> Result<PathBuf, MeasureError> {
        let path = self.path_of(host);
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(error) => Err(MeasureError::EventLogs { path, error }),
        }
    }

    /// Moves the logs to their names, in the order in which they were begun. Returns warnings about
    /// those that are missing or stay where they are.
    pub(super) fn collect<'a>(self, hosts: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut kept = 0;
        for host in hosts {
            let folder = self.path_of(host);
            if !folder.is_dir() {
                continue;
            }
            match self.keep(host, &folder) {
                Ok(0) => warnings.push(format!("{host}: Chromium wrote no event log")),
                Ok(logs) => kept += logs,
                Err(error) => {
                    warnings
                        .push(format!("{}: the event logs stay here: {error}", folder.display()));
                }
            }
        }
        if kept == 0 && warnings.is_empty() {
            warnings.push("no event log: only Chromium writes one".to_owned());
        }
        warnings
    }

    fn keep(&self, host: &str, folder: &Path) -> io::Result<usize> {
        let mut logs = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            logs.push((entry.metadata()?.modified()?, entry.path()));
        }
        logs.sort();
        for (index, (_, log)) in logs.iter().enumerate() {
            let number = if index == 0 { String::new() } else { format!("-{}", index + 1) };
            fs::rename(log, self.folder.join(format!("{host}{number}.{EXTENSION}")))?;
        }
        fs::remove_dir(folder)?;
        Ok(logs.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_get_the_names_of_their_hosts() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("new");
        let logs = EventLogs::create(&top).unwrap();
        let alice = logs.folder_of("alice").unwrap();
        fs::write(alice.join("event_log_20261124_0750_7_1.log"), "one").unwrap();
        logs.folder_of("bob").unwrap();
        let warnings = logs.collect(["alice", "bob", "carol"].into_iter());
        assert_eq!(warnings, ["bob: Chromium wrote no event log"]);
        assert_eq!(fs::read_to_string(top.join("alice.rtclog")).unwrap(), "one");
        assert!(!alice.exists());
        let none = EventLogs::create(&top).unwrap().collect(["dave"].into_iter());
        assert_eq!(none, ["no event log: only Chromium writes one"]);
    }
}

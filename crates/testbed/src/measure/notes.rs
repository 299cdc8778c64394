//! Facts about a measured run for the store.

use super::browser::Browser;
use super::media::Media;
use chrono::{DateTime, SecondsFormat};
use experiment::Native;
use sim::CallConfig;
use units::Duration;

/// Names and values, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<(String, String)>);

impl Notes {
    /// Adds the date at which the run began; the argument is the time since 1970.
    pub(super) fn date(&mut self, since_1970: Duration) {
        if let Some(date) = DateTime::from_timestamp_millis(since_1970.as_millis_f64() as i64) {
            self.0.push(("date".to_owned(), date.to_rfc3339_opts(SecondsFormat::Secs, true)));
        }
    }

    /// Adds the version of a host's browser.
    pub(super) fn browser(&mut self, host: &str, browser: &Browser) {
        self.0.push((format!("browser.{host}"), browser.version().to_owned()));
    }

    /// Adds a host's native peer, with its own estimator or the controller of the call.
    pub(super) fn native(&mut self, host: &str, native: Native, call: &CallConfig) {
        let value = match (native, &call.video) {
            (Native::Peer, Some(video)) => format!("peer, {}", video.controller.profile),
            (Native::Peer, None) => "peer".to_owned(),
            (Native::Rtc, _) => "rtc".to_owned(),
            (Native::Str0m, _) => "str0m".to_owned(),
        };
        let note = (format!("endpoint.{host}"), value);
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// Adds the picture and sound of a host.
    pub(super) fn media(&mut self, host: &str, media: &Media) {
        self.0.push((format!("media.{host}"), media.description.clone()));
    }

    /// Adds the notes of a call.
    pub(super) fn call(&mut self, notes: Vec<(String, String)>) {
        self.0.extend(notes);
    }

    /// Removes and returns all notes.
    pub(super) fn take(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_in_utc_and_whole_seconds() {
        let mut notes = Notes::default();
        notes.date(Duration::from_millis(1_700_000_000_900));
        assert_eq!(notes.take(), [("date".to_owned(), "2023-11-14T22:13:20Z".to_owned())]);
        assert!(notes.take().is_empty());
    }
}

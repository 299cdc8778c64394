//! An experiment with its calls as today's Chromium makes them: what a measured run is held against.

use super::{Experiment, ExperimentError};
use crate::document::{self, KeyPath, Table};
use std::collections::BTreeMap;

/// The controller of today's Chromium.
pub const TODAY: &str = "gcc:libwebrtc";
/// Its audio: Opus of one channel in packets of 20 ms (libwebrtc `modules/audio_coding/codecs/opus/audio_encoder_opus.cc`, `kOpusBitrateFbBps`).
const AUDIO: &str = r#"{ rate = "32kbit/s" }"#;

impl Experiment {
    /// The experiment with every call as today's Chromium makes it: its controller with its own rates and no setting of the file, its audio, the source
    /// that a measurement sends ([`Measure::source`](super::Measure::source)), parity packets when many are lost (it negotiates ULPFEC), and the picture in
    /// the steps of today's libwebrtc.
    ///
    /// # Errors
    /// When an axis varies the controller itself.
    pub fn as_today(&self) -> Result<Self, ExperimentError> {
        let mut document = self.document.clone();
        // What these would say belongs to the file's own controller.
        let strip = |call: &mut Table| {
            call.retain(|key| !["settings", "start_rate", "min_rate", "max_rate"].contains(&key));
            call.edit("video", |video| video.retain(|key| key != "ladder"));
        };
        document.edit("defaults", |defaults| defaults.edit("call", strip));
        document.edit("call", |calls| calls.edit_all(strip));
        for (path, value) in self.of_today() {
            let fault = |reason| ExperimentError::file(&self.path, reason, "");
            let path = KeyPath::parse(&path).map_err(fault)?;
            document.set(&path, &document::parse_value(&value)).map_err(|fault| fault.in_file(&self.path))?;
        }
        let text = document::write(&document);
        let changed = Self::build(document, &text, &self.path, &self.name, self.files.clone())
            .map_err(|fault| fault.in_file(&self.path))?;
        changed.under(TODAY)
    }

    /// What is set, by path.
    fn of_today(&self) -> BTreeMap<String, String> {
        let mut set = BTreeMap::new();
        for cell in &self.cells {
            for call in &cell.scenario.calls {
                let mut put =
                    |key: &str, value: String| set.insert(format!("call.{}.{key}", call.name), value);
                put("controller", TODAY.to_owned());
                if call.audio.is_some() {
                    put("audio", AUDIO.to_owned());
                }
                let Some(video) = &call.video else { continue };
                put("fec", "hybrid".to_owned());
                let source = cell.measure.source(video.encoder.source);
                put("video.width", source.width.to_string());
                put("video.height", source.height.to_string());
                put("video.fps", source.fps.to_string());
                if !video.encoder.ladder.enabled {
                    put("video.ladder", "none".to_owned());
                }
            }
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::names;
    use sim::Fec;
    use sim::codec::LadderSteps;
    use units::{Bitrate, Seed};

    #[test]
    fn calls_become_those_of_a_measurement() {
        let experiment = Experiment::open("jansen-2016/fig8-10").unwrap().as_today().unwrap();
        let scenario = experiment.cells()[0].scenario(Seed(1));
        assert_eq!(scenario.calls.len(), 3);
        for call in &scenario.calls {
            let video = call.video.as_ref().unwrap();
            assert_eq!((video.controller.profile.as_str(), video.fec), (TODAY, Fec::Hybrid));
            assert_eq!(video.encoder.source, experiment.cells()[0].measure().source(video.encoder.source));
            assert_eq!(video.encoder.ladder.steps, LadderSteps::Alternating);
            assert_eq!(video.encoder.max_rate, Bitrate::from_kbps(2_500), "the file's cap is the page's too");
        }
        // Its text says all of it.
        let again = Experiment::parse(&experiment.text, "again.toml").unwrap();
        assert_eq!(again.controllers().collect::<Vec<_>>(), experiment.controllers().collect::<Vec<_>>());
    }

    #[test]
    fn every_built_in_experiment_has_a_form_of_today_or_varies_the_controller() {
        for name in names() {
            let experiment = Experiment::open(name).unwrap();
            match experiment.as_today() {
                Ok(today) => assert_eq!(today.cells().len(), experiment.cells().len(), "{name}"),
                Err(error) => assert!(error.to_string().contains("varies the controller"), "{name}: {error}"),
            }
        }
    }
}

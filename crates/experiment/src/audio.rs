//! `audio` of a call: the codec, and whether it pauses.

use super::calls::{Switch, at_least_a_millisecond, switch};
use super::values::positive;
use document::{Fault, Node, Reader, Value};
use sim::codec::{AudioConfig, Spurts};
use units::{Bitrate, Duration};

/// The audio under `audio`: `true`, `"opus"`, `"amr"` or a table.
pub(super) fn read(table: &mut Reader<'_>) -> Result<Option<AudioConfig>, Fault> {
    if let Some(Node { value: Value::Text(word), .. }) = table.node("audio") {
        return match Codec::named(word) {
            Some(codec) => Ok(Some(codec.default_config())),
            None => Err(table.fault("audio", format!("there is no codec '{word}'"), CODECS)),
        };
    }
    match switch(table, "audio")? {
        None | Some(Switch::None) => Ok(None),
        Some(Switch::Default) => Ok(Some(Codec::Opus.default_config())),
        Some(Switch::Table(node)) => {
            audio_table(Reader::new(node, &table.path("audio"))?).map(Some)
        }
    }
}

const CODECS: &str = "write opus or amr";

/// A codec that a file may name.
#[derive(Clone, Copy, PartialEq)]
enum Codec {
    Opus,
    Amr,
}

impl Codec {
    fn named(word: &str) -> Option<Self> {
        match word {
            "opus" => Some(Self::Opus),
            "amr" => Some(Self::Amr),
            _ => None,
        }
    }

    /// The default of the codec: Opus without pauses, AMR with pauses.
    fn default_config(self) -> AudioConfig {
        match self {
            Self::Opus => AudioConfig::opus(),
            Self::Amr => AudioConfig::amr(),
        }
    }

    /// The codec with talk spurts and pauses.
    fn in_spurts(self) -> AudioConfig {
        match self {
            Self::Opus => AudioConfig::opus_in_spurts(),
            Self::Amr => AudioConfig::amr(),
        }
    }
}

fn audio_table(mut audio: Reader<'_>) -> Result<AudioConfig, Fault> {
    let word = audio.or("codec", "opus".to_owned())?;
    let codec = Codec::named(&word)
        .ok_or_else(|| audio.fault("codec", format!("there is no codec '{word}'"), CODECS))?;
    let usual = codec.in_spurts().spurts;
    let spurts = match switch(&mut audio, "spurts")? {
        None => codec.default_config().spurts,
        Some(Switch::None) => None,
        Some(Switch::Default) => usual,
        Some(Switch::Table(node)) => {
            let path = audio.path("spurts");
            usual.map(|usual| spurts(Reader::new(node, &path)?, usual)).transpose()?
        }
    };
    let default = if spurts.is_some() { codec.in_spurts() } else { codec.default_config() };
    let mut config = AudioConfig { spurts, ..default };
    if codec == Codec::Opus {
        config.rate = audio.or("rate", config.rate)?;
        config.interval = audio.or("interval", config.interval)?;
        positive(&audio, "rate", config.rate > Bitrate::ZERO)?;
        at_least_a_millisecond(&audio, "interval", config.interval)?;
        config.deviation = audio.or("deviation", config.deviation)?;
        config.correlation = audio.or("correlation", config.correlation)?;
    }
    for key in ["rate", "interval", "deviation", "correlation"] {
        if codec == Codec::Amr && audio.node(key).is_some() {
            let reason = "AMR is modelled at 12.2 kbit/s with frames of 20 ms";
            return Err(audio.fault(key, reason, "leave it out, or write codec = \"opus\""));
        }
    }
    audio.finish()?;
    Ok(config)
}

fn spurts(mut table: Reader<'_>, usual: Spurts) -> Result<Spurts, Fault> {
    let mut duration = |key, usual| {
        let duration: Duration = table.or(key, usual)?;
        at_least_a_millisecond(&table, key, duration)?;
        Ok(duration)
    };
    let (spurt, pause) = (duration("spurt", usual.spurt)?, duration("pause", usual.pause)?);
    let silence_interval = duration("silence_interval", usual.silence_interval)?;
    let silence = table.or("silence", usual.silence)?;
    table.finish()?;
    Ok(Spurts { spurt, pause, silence, silence_interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, ExperimentError};
    use sim::codec::AudioCodec;
    use units::{Bytes, Seed};

    fn audio(words: &str) -> Result<AudioConfig, ExperimentError> {
        let call = format!(
            "[call.main]\nfrom = \"alice\"\nto = \"bob\"\nvideo = false\naudio = {words}\n"
        );
        let text = format!("title = \"t\"\nduration = \"9s\"\n[host.alice]\n[host.bob]\n{call}");
        let experiment = Experiment::parse(&text, "x.toml")?;
        let scenario = experiment.cells()[0].scenario(Seed(1));
        Ok(scenario.calls[0].audio.clone().unwrap())
    }

    #[test]
    fn audio_is_a_codec_or_a_table() {
        let opus = AudioConfig::opus();
        for words in ["true", "\"opus\"", "{}", "{ codec = \"opus\", spurts = false }"] {
            assert_eq!(audio(words).unwrap(), opus, "{words}");
        }
        for words in ["\"amr\"", "{ codec = \"amr\" }", "{ codec = \"amr\", spurts = true }"] {
            assert_eq!(audio(words).unwrap(), AudioConfig::amr(), "{words}");
        }
        assert_eq!(audio("{ spurts = true }").unwrap(), AudioConfig::opus_in_spurts());
        assert_eq!(audio("{ codec = \"amr\", spurts = false }").unwrap().spurts, None);
        let slow = audio("{ rate = \"32kbit/s\", spurts = { spurt = \"2s\", silence = \"2B\" } }")
            .unwrap();
        let spurts = slow.spurts.unwrap();
        assert_eq!((slow.codec, slow.rate), (AudioCodec::Opus, Bitrate::from_kbps(32)));
        assert_eq!(
            (spurts.spurt, spurts.pause),
            (Duration::from_secs(2), Duration::from_millis(1_587))
        );
        assert_eq!(
            (spurts.silence, spurts.silence_interval),
            (Bytes::new(2), Duration::from_millis(400))
        );
    }

    #[test]
    fn errors_name_the_key_and_a_suggestion() {
        for (words, part) in [
            ("\"amer\"", "x.toml:9: call.main.audio: there is no codec 'amer'; write opus or amr"),
            (
                "{ codec = \"g711\" }",
                "call.main.audio.codec: there is no codec 'g711'; write opus or amr",
            ),
            (
                "{ codec = \"amr\", rate = \"5kbit/s\" }",
                "call.main.audio.rate: AMR is modelled at 12.2 kbit/s",
            ),
            ("{ spurts = { spurt = \"0s\" } }", "call.main.audio.spurts.spurt: 0s is below 1ms"),
            ("{ spurts = { pauses = \"1s\" } }", "there is no such key; did you mean pause?"),
            ("3", "call.main.audio: a whole number where true, false or a table belongs"),
        ] {
            let error = audio(words).unwrap_err().to_string();
            assert!(error.contains(part), "{error}, not {part}");
        }
    }
}

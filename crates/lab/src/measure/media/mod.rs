//! Sound and picture for the browsers, made by ffmpeg on first use and kept.
//!
//! Chromium takes a YUV4MPEG2 and a WAVE file for camera and microphone; Firefox plays a film. All three show and say the same. The scene is
//! that of the codec model's fit, so that simulated and real encoders get the same kind of picture.

mod cache;
mod ffmpeg;
mod y4m;

pub use cache::Cache;

use crate::fit::SCENES;
use cache::fingerprint;
use ffmpeg::{Picture, Sound};
use std::fmt;
use std::path::{Path, PathBuf};

/// The most that a generated picture may take, bytes: a file that the machine's memory holds beside the browsers.
const MOST: u64 = 450_000_000;
/// The longest loop, seconds.
const LONGEST: u64 = 20;
/// Loops are a multiple of this, seconds: the generated speech repeats by then.
const STEP: u64 = 2;

/// What sound and picture should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaSpec {
    /// Pixels, even.
    pub width: u32,
    /// Pixels, even.
    pub height: u32,
    /// Frames a second, 1…60.
    pub frame_rate: u32,
    /// The user's own picture, in any form that ffmpeg reads; a YUV4MPEG2 file is used as it is. `None`: the scene 'head' of `weir fit`.
    pub video: Option<PathBuf>,
    /// The user's own sound, in any form that ffmpeg reads; a WAVE file is used as it is. `None`: noise with the loudness of speech.
    pub audio: Option<PathBuf>,
}

/// Files for the browsers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// Chromium's camera.
    pub y4m: PathBuf,
    /// Chromium's microphone.
    pub wav: PathBuf,
    /// The film that Firefox plays; `None` unless it was wanted.
    pub webm: Option<PathBuf>,
    /// What they show, for the record.
    pub description: String,
}

/// Why there is no sound or picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaError(pub String);

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MediaError {}

impl MediaError {
    fn file(path: &Path, error: impl fmt::Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl MediaSpec {
    /// Gives the files, and makes those that the cache lacks; `progress` is told what is being made.
    ///
    /// # Errors
    /// When sizes are out of range, a user's file cannot be read, ffmpeg is missing or fails, or the cache cannot be written.
    pub fn prepare(
        &self,
        cache: &Cache,
        want_film: bool,
        progress: &dyn Fn(&str),
    ) -> Result<Media, MediaError> {
        self.check()?;
        let y4m = self.picture(cache, progress)?;
        let wav = self.sound(cache, progress)?;
        let webm = want_film.then(|| self.film(cache, &y4m, &wav, progress)).transpose()?;
        Ok(Media { y4m, wav, webm, description: self.to_string() })
    }

    /// Seconds after which the picture repeats.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        let a_second = u64::from(self.width) * u64::from(self.height) * 3 / 2 * u64::from(self.frame_rate);
        let most = (MOST / a_second.max(1)).clamp(STEP, LONGEST);
        most - most % STEP
    }

    fn check(&self) -> Result<(), MediaError> {
        let even = |pixels: u32| (16..=3840).contains(&pixels) && pixels.is_multiple_of(2);
        if !even(self.width) || !even(self.height) {
            let (width, height) = (self.width, self.height);
            return Err(MediaError(format!(
                "a picture of {width}×{height}: give even numbers between 16 and 3840"
            )));
        }
        if !(1..=60).contains(&self.frame_rate) {
            return Err(MediaError(format!("{} frames/s: give a number between 1 and 60", self.frame_rate)));
        }
        Ok(())
    }

    fn picture(&self, cache: &Cache, progress: &dyn Fn(&str)) -> Result<PathBuf, MediaError> {
        let (width, height, frame_rate) = (self.width, self.height, self.frame_rate);
        let picture = Picture { width, height, frame_rate, seconds: self.seconds() };
        let Some(source) = &self.video else {
            let graph = picture.generated(SCENES[0].1);
            let name = format!("head-{width}x{height}-{frame_rate}-{}.y4m", fingerprint(&[&graph]));
            return cache.get(&name, y4m::is_whole, progress, |to| picture.generate(&graph, to));
        };
        if has_extension(source, "y4m") {
            return y4m::check(source).map(|()| source.clone());
        }
        let from = cache::identity(source)?;
        let name = format!("video-{width}x{height}-{frame_rate}-{}.y4m", fingerprint(&[&from]));
        cache.get(&name, y4m::is_whole, progress, |to| picture.convert(source, to))
    }

    fn sound(&self, cache: &Cache, progress: &dyn Fn(&str)) -> Result<PathBuf, MediaError> {
        let sound = Sound { seconds: self.seconds() };
        let Some(source) = &self.audio else {
            let graph = sound.generated();
            let name = format!("speech-{}.wav", fingerprint(&[&graph]));
            return cache.get(&name, |_| true, progress, |to| sound.generate(&graph, to));
        };
        if has_extension(source, "wav") {
            return cache::identity(source).map(|_| source.clone());
        }
        let name = format!("audio-{}.wav", fingerprint(&[&cache::identity(source)?]));
        cache.get(&name, |_| true, progress, |to| sound.convert(source, to))
    }

    fn film(
        &self,
        cache: &Cache,
        y4m: &Path,
        wav: &Path,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, MediaError> {
        let key = fingerprint(&[&cache::identity(y4m)?, &cache::identity(wav)?, ffmpeg::FILM]);
        let name = format!("film-{}x{}-{}-{key}.webm", self.width, self.height, self.frame_rate);
        cache.get(&name, |_| true, progress, |to| ffmpeg::film(y4m, wav, to))
    }
}

impl fmt::Display for MediaSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &Option<PathBuf>, own: &str| {
            let file = path.as_ref().and_then(|path| path.file_name());
            file.map_or_else(|| own.to_owned(), |name| name.to_string_lossy().into_owned())
        };
        let (video, audio) =
            (name(&self.video, "scene 'head'"), name(&self.audio, "noise as loud as speech"));
        write!(f, "{video} {}×{} at {} frames/s; {audio}", self.width, self.height, self.frame_rate)
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests;

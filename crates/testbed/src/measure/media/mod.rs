//! Sound and picture for the browsers, made by ffmpeg on first use and cached.
//!
//! Chromium reads a YUV4MPEG2 and a WAVE file as camera and microphone; Firefox plays a film with
//! the same content. The scene is that of the fit of the codec model, so that simulated and real
//! encoders get the same kind of picture.

mod cache;
mod error;
mod ffmpeg;
mod y4m;

pub use cache::{Cache, CachedFile};
pub use error::MediaError;

use crate::fit::SCENES;
use cache::fingerprint;
use experiment::{MAX_FRAME_RATE, MAX_SIZE};
use ffmpeg::{Picture, Sound};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The largest generated picture file, bytes: the machine's memory must hold it beside the
/// browsers.
const MAX_PICTURE_BYTES: u64 = 450_000_000;
/// The longest loop, seconds.
const MAX_LOOP: u64 = 20;
/// Loops are a multiple of this, seconds, if the file may be that long: the generated speech
/// repeats after it.
const LOOP_STEP: u64 = 2;

/// The wanted sound and picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaSpec {
    /// Pixels, even.
    pub width: u32,
    /// Pixels, even.
    pub height: u32,
    /// Frames a second.
    pub frame_rate: u32,
    /// The user's picture, in any format that ffmpeg reads; a YUV4MPEG2 file is used unchanged.
    /// `None`: the scene 'head' of `weir fit`.
    pub video: Option<PathBuf>,
    /// The user's sound, in any format that ffmpeg reads; a WAVE file is used unchanged. `None`:
    /// noise with the loudness of speech.
    pub audio: Option<PathBuf>,
}

/// The media files for the browsers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The picture for Chromium's camera.
    pub y4m: CachedFile,
    /// The sound for Chromium's microphone.
    pub wav: CachedFile,
    /// The film that Firefox plays; `None` unless requested.
    pub webm: Option<CachedFile>,
    /// A description of the content, for the notes of a run.
    pub description: String,
}

/// Makes media files and keeps them in the cache.
struct MediaMaker<'a> {
    cache: &'a Cache,
    progress: &'a dyn Fn(&str),
    cancel: &'a AtomicBool,
}

impl MediaMaker<'_> {
    /// Runs ffmpeg with these arguments, then `finish` on its output.
    fn make(
        &self,
        name: &str,
        is_whole: fn(&Path) -> bool,
        arguments: &[String],
        finish: fn(&Path) -> Result<(), MediaError>,
    ) -> Result<CachedFile, MediaError> {
        self.cache.get(name, is_whole, self.progress, |to| {
            ffmpeg::run(arguments, to, self.cancel)?;
            finish(to)
        })
    }
}

impl MediaSpec {
    /// Returns the files, and makes those that the cache lacks, unless `cancel` is set. `progress`
    /// is called with each file that is made.
    ///
    /// # Errors
    /// When sizes are out of range, a user's file cannot be read, ffmpeg is missing, fails or is
    /// cancelled, or the cache cannot be written.
    pub fn prepare(
        &self,
        cache: &Cache,
        want_film: bool,
        cancel: &AtomicBool,
        progress: &dyn Fn(&str),
    ) -> Result<Media, MediaError> {
        self.check()?;
        let maker = MediaMaker { cache, progress, cancel };
        let (y4m, shown) = self.picture(&maker)?;
        let wav = self.sound(&maker)?;
        let webm = want_film.then(|| self.film(&maker, &y4m, &wav)).transpose()?;
        let heard =
            self.audio.as_deref().map_or("noise with the loudness of speech".into(), file_name);
        Ok(Media { y4m, wav, webm, description: format!("{shown}; {heard}") })
    }

    /// The number of frames after which the picture repeats: whole multiples of [`LOOP_STEP`] if
    /// the file can hold one.
    fn frames(&self) -> u64 {
        let most =
            MAX_PICTURE_BYTES / (u64::from(self.width) * u64::from(self.height) * 3 / 2).max(1);
        let step = LOOP_STEP * u64::from(self.frame_rate);
        match most / step {
            0 => most,
            steps => steps.min(MAX_LOOP / LOOP_STEP) * step,
        }
    }

    fn check(&self) -> Result<(), MediaError> {
        let even = |pixels: u32| (2..=MAX_SIZE).contains(&pixels) && pixels.is_multiple_of(2);
        if !even(self.width) || !even(self.height) {
            return Err(MediaError::Size { width: self.width, height: self.height });
        }
        if !(1..=MAX_FRAME_RATE).contains(&self.frame_rate) {
            return Err(MediaError::FrameRate(self.frame_rate));
        }
        Ok(())
    }

    /// The picture file, and its description.
    fn picture(&self, maker: &MediaMaker<'_>) -> Result<(CachedFile, String), MediaError> {
        let (width, height, frame_rate) = (self.width, self.height, self.frame_rate);
        let picture = Picture { width, height, frame_rate, frames: self.frames() };
        let size = format!("{width}×{height} at {frame_rate} frames/s");
        let Some(source) = &self.video else {
            let arguments = picture.generated(SCENES[0].1);
            let name =
                format!("head-{width}x{height}-{frame_rate}-{}.y4m", fingerprint(&arguments));
            let made = maker.make(&name, y4m::is_whole, &arguments, y4m::append_reversed)?;
            return Ok((made, format!("scene 'head' {size}")));
        };
        let name = file_name(source);
        if has_extension(source, "y4m") {
            let parameters = y4m::Parameters::of(source)?;
            return Ok((users(source)?, format!("{name} {parameters}")));
        }
        let (from, arguments) = (cache::identity(source)?, picture.converted(source)?);
        let key = fingerprint(arguments.iter().chain([&from]));
        let file = format!("video-{width}x{height}-{frame_rate}-{key}.y4m");
        let made = maker.make(&file, y4m::is_whole, &arguments, |_| Ok(()))?;
        Ok((made, format!("{name} {size}")))
    }

    fn sound(&self, maker: &MediaMaker<'_>) -> Result<CachedFile, MediaError> {
        let seconds =
            self.frames().div_ceil(u64::from(self.frame_rate)).next_multiple_of(LOOP_STEP);
        let sound = Sound { seconds };
        let (name, arguments) = match &self.audio {
            None => {
                let arguments = sound.generated();
                (format!("speech-{}.wav", fingerprint(&arguments)), arguments)
            }
            Some(source) if has_extension(source, "wav") => {
                return check_wave(source).and_then(|()| users(source));
            }
            Some(source) => {
                let (from, arguments) = (cache::identity(source)?, sound.converted(source)?);
                (format!("audio-{}.wav", fingerprint(arguments.iter().chain([&from]))), arguments)
            }
        };
        maker.make(&name, |_| true, &arguments, |_| Ok(()))
    }

    fn film(
        &self,
        maker: &MediaMaker<'_>,
        y4m: &Path,
        wav: &Path,
    ) -> Result<CachedFile, MediaError> {
        let arguments = ffmpeg::film(y4m, wav)?;
        let key =
            fingerprint(arguments.iter().chain([&cache::identity(y4m)?, &cache::identity(wav)?]));
        let name = format!("film-{}x{}-{}-{key}.webm", self.width, self.height, self.frame_rate);
        maker.make(&name, |_| true, &arguments, |_| Ok(()))
    }
}

/// Checks that a user's file is a WAVE file (RIFF, Multimedia Programming Interface and Data
/// Specifications 1.0).
fn check_wave(path: &Path) -> Result<(), MediaError> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(12).read_to_end(&mut head));
    match read {
        Ok(12) if head.starts_with(b"RIFF") && head.ends_with(b"WAVE") => Ok(()),
        Ok(_) => Err(MediaError::NotWave(path.to_owned())),
        Err(error) => Err(MediaError::file(path, error)),
    }
}

/// A user's file, unchanged; it may be one of the cache.
fn users(path: &Path) -> Result<CachedFile, MediaError> {
    CachedFile::at(path).map_err(|error| MediaError::file(path, error))
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests;

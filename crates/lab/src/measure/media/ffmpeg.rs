//! What ffmpeg is told.

use super::{MediaError, y4m};
use std::path::Path;
use std::process::{Command, Stdio};

/// The film's encoders: VP8 at a quality and a speed that leave the picture as it is, and Opus.
pub(super) const FILM: &str = "-c:v libvpx -deadline realtime -cpu-used 8 -threads 2 -crf 8 -b:v 12M -qmin 2 -qmax 24 -g 60 \
                               -c:a libopus -b:a 96k -shortest";

/// A picture to be made.
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) frame_rate: u32,
    pub(super) seconds: u64,
}

impl Picture {
    /// The filter graph of a scene, in this size and frame rate.
    pub(super) fn generated(&self, scene: &str) -> String {
        let scene: String = scene.split_whitespace().collect();
        let scene = scene.replace("rate=30", &format!("rate={}", self.frame_rate));
        let Self { width, height, .. } = self;
        format!("{scene},scale={width}:{height}:force_original_aspect_ratio=increase,crop={width}:{height}")
    }

    /// Writes the scene forwards and back again, so that it repeats without a jump.
    pub(super) fn generate(&self, graph: &str, to: &Path) -> Result<(), MediaError> {
        let there = u64::from(self.frame_rate) * self.seconds / 2 + 1;
        let arguments = ["-filter_complex", graph, "-frames:v", &there.to_string(), "-pix_fmt", "yuv420p"];
        run(&[arguments.as_slice(), &["-f", "yuv4mpegpipe"]].concat(), to)?;
        y4m::and_back(to)
    }

    /// Writes a user's picture, scaled into the frame.
    pub(super) fn convert(&self, from: &Path, to: &Path) -> Result<(), MediaError> {
        let Self { width, height, frame_rate, seconds } = self;
        let fit = format!(
            "fps={frame_rate},scale={width}:{height}:force_original_aspect_ratio=decrease,pad={width}:{height}:-1:-1,setsar=1"
        );
        let (from, seconds) = (readable(from)?, seconds.to_string());
        run(
            &["-i", &from, "-t", &seconds, "-an", "-vf", &fit, "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe"],
            to,
        )
    }
}

/// A sound to be made: 48 kHz, one channel, 16 bits.
pub(super) struct Sound {
    pub(super) seconds: u64,
}

const PCM: [&str; 8] = ["-ar", "48000", "-ac", "1", "-c:a", "pcm_s16le", "-f", "wav"];

impl Sound {
    /// Noise of the voice's spectrum, loud as syllables are, four a second, in phrases with pauses between.
    pub(super) fn generated(&self) -> String {
        format!(
            "anoisesrc=color=pink:seed=1:sample_rate=48000:amplitude=0.6:duration={},highpass=f=150,lowpass=f=3500,\
             volume='(0.1+0.9*pow(sin(2*PI*2*t),2))*gt(sin(2*PI*t/2),-0.5)':eval=frame",
            self.seconds
        )
    }

    pub(super) fn generate(&self, graph: &str, to: &Path) -> Result<(), MediaError> {
        run(&[["-f", "lavfi", "-i", graph].as_slice(), &PCM].concat(), to)
    }

    /// Writes a user's sound.
    pub(super) fn convert(&self, from: &Path, to: &Path) -> Result<(), MediaError> {
        let (from, seconds) = (readable(from)?, self.seconds.to_string());
        run(&[["-i", &from, "-t", &seconds, "-vn"].as_slice(), &PCM].concat(), to)
    }
}

/// Writes picture and sound as one film.
pub(super) fn film(y4m: &Path, wav: &Path, to: &Path) -> Result<(), MediaError> {
    let (y4m, wav) = (readable(y4m)?, readable(wav)?);
    let options: Vec<&str> = FILM.split_whitespace().collect();
    run(&[["-i", &y4m, "-i", &wav].as_slice(), &options, &["-f", "webm"]].concat(), to)
}

/// A file's name as ffmpeg takes it for a file and nothing else: 'https:…' would be an address.
fn readable(path: &Path) -> Result<String, MediaError> {
    let path = std::path::absolute(path).map_err(|error| MediaError::file(path, error))?;
    let text = path.to_str().ok_or_else(|| MediaError::file(&path, "the name is not UTF-8; rename it"))?;
    Ok(format!("file:{text}"))
}

fn run(arguments: &[&str], to: &Path) -> Result<(), MediaError> {
    let mut command = Command::new("ffmpeg");
    command.args(["-hide_banner", "-nostdin", "-loglevel", "error", "-y"]).args(arguments).arg(readable(to)?);
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        MediaError(format!(
            "ffmpeg can't be started ({error}): install it, on Debian with 'apt-get install ffmpeg'"
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(MediaError(format!("ffmpeg failed: {}", last.trim())))
}

//! The arguments of ffmpeg.

use super::MediaError;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// The time between two checks of whether ffmpeg has ended.
const TICK: Duration = Duration::from_millis(10);
/// The encoders of the film: VP8 with a quality that keeps the picture at a high speed, and Opus.
const FILM: &str = "-c:v libvpx -deadline realtime -cpu-used 8 -threads 2 -crf 8 -b:v 12M -qmin 2 -qmax 24 -g 60 \
                               -c:a libopus -b:a 96k -shortest -f webm";

/// A picture to be made.
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) frame_rate: u32,
    pub(super) frames: u64,
}

const Y4M: [&str; 4] = ["-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe"];

impl Picture {
    /// The arguments for a scene: half of the frames and one; the other half is the same in reverse
    /// ([`super::y4m::append_reversed`]).
    pub(super) fn generated(&self, scene: &str) -> Vec<String> {
        let Self { width, height, frame_rate, frames } = self;
        let scene: String = scene.split_whitespace().collect();
        let scene = scene.replace("rate=30", &format!("rate={frame_rate}"));
        let graph = format!(
            "{scene},scale={width}:{height}:force_original_aspect_ratio=increase,crop={width}:{height}"
        );
        let there = frames / 2 + 1;
        arguments(&["-filter_complex", &graph, "-frames:v", &there.to_string()], &Y4M)
    }

    /// The arguments for a user's picture, scaled into the frame.
    pub(super) fn converted(&self, from: &Path) -> Result<Vec<String>, MediaError> {
        let Self { width, height, frame_rate, frames } = self;
        let fit = format!(
            "fps={frame_rate},scale={width}:{height}:force_original_aspect_ratio=decrease,pad={width}:{height}:-1:-1,setsar=1"
        );
        let frames = frames.to_string();
        Ok(arguments(&["-i", &readable(from)?, "-frames:v", &frames, "-an", "-vf", &fit], &Y4M))
    }
}

/// A sound to be made: 48 kHz, one channel, 16 bits.
pub(super) struct Sound {
    pub(super) seconds: u64,
}

const PCM: [&str; 8] = ["-ar", "48000", "-ac", "1", "-c:a", "pcm_s16le", "-f", "wav"];

impl Sound {
    /// The arguments for noise with the spectrum of a voice: four syllables per second, in phrases
    /// with pauses.
    pub(super) fn generated(&self) -> Vec<String> {
        let graph = format!(
            "anoisesrc=color=pink:seed=1:sample_rate=48000:amplitude=0.6:duration={},highpass=f=150,lowpass=f=3500,\
             volume='(0.1+0.9*pow(sin(2*PI*2*t),2))*gt(sin(2*PI*t/2),-0.5)':eval=frame",
            self.seconds
        );
        arguments(&["-f", "lavfi", "-i", &graph], &PCM)
    }

    /// The arguments for a user's sound.
    pub(super) fn converted(&self, from: &Path) -> Result<Vec<String>, MediaError> {
        Ok(arguments(&["-i", &readable(from)?, "-t", &self.seconds.to_string(), "-vn"], &PCM))
    }
}

/// The arguments for a film of picture and sound.
pub(super) fn film(y4m: &Path, wav: &Path) -> Result<Vec<String>, MediaError> {
    let encoders: Vec<&str> = FILM.split_whitespace().collect();
    Ok(arguments(&["-i", &readable(y4m)?, "-i", &readable(wav)?], &encoders))
}

fn arguments(input: &[&str], output: &[&str]) -> Vec<String> {
    input.iter().chain(output).map(|word| (*word).to_owned()).collect()
}

/// A path in a form that ffmpeg reads as a file only: 'https:…' would be an address.
fn readable(path: &Path) -> Result<String, MediaError> {
    let path = std::path::absolute(path).map_err(|error| MediaError::file(path, error))?;
    let text = path.to_str().ok_or_else(|| MediaError::NotUtf8(path.clone()))?;
    Ok(format!("file:{text}"))
}

/// Runs ffmpeg to write a file. The arguments determine its content, so that the name of a cached
/// file can be derived from them.
pub(super) fn run(arguments: &[String], to: &Path, cancel: &AtomicBool) -> Result<(), MediaError> {
    let mut command = Command::new("ffmpeg");
    command
        .args(["-hide_banner", "-nostdin", "-loglevel", "error", "-y"])
        .args(arguments)
        .arg(readable(to)?);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(MediaError::StartFfmpeg)?;
    let pipe = child.stderr.take();
    // Read in parallel: ffmpeg would block on a full pipe.
    let errors = spawn(move || {
        let mut text = Vec::new();
        // After a read error, the text so far is used.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let status = until_it_ends(&mut child, cancel).map_err(MediaError::WaitFfmpeg)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(MediaError::Cancelled);
    }
    if status.success() {
        return Ok(());
    }
    let errors = errors.join().unwrap_or_default();
    let last =
        errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed no error");
    Err(MediaError::Ffmpeg(last.trim().to_owned()))
}

/// Waits for a program's end, and kills the program when cancelled.
fn until_it_ends(child: &mut Child, cancel: &AtomicBool) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if cancel.load(Ordering::Relaxed) {
            child.kill()?;
        }
        sleep(TICK);
    }
}

//! The encodes: the scenes, the encoders with their options, and the calls of ffmpeg.

use super::estimate::EncodedFrame;
use super::{FitError, probe};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The generated scenes: name, and an ffmpeg filter graph of 1280×720 at 30 frames/s. `head`: a
/// head before a still, textured background. `camera`: a detailed picture under a moving, zooming
/// camera. Both have the noise of a camera. All random sources of ffmpeg are seeded: the same
/// version gives the same fit.
pub const SCENES: [(&str, &str); 2] = [
    (
        "head",
        "gradients=size=1280x720:rate=30:speed=0.00001:nb_colors=3:c0=0x304060:c1=0x908070:c2=0x203020:\
         x0=0:y0=0:x1=1280:y1=720:seed=1,format=yuv420p,\
         noise=c0s=40:all_seed=1,gblur=sigma=1.5[background];\
         mandelbrot=size=360x480:rate=30:start_scale=0.3:end_scale=0.29:end_pts=300,format=yuv420p,gblur=sigma=2[head];\
         [background][head]overlay=x='(W-w)/2+24*sin(2*PI*t/3)':y='H-h+12*sin(2*PI*t/1.7)',\
         format=yuv420p,noise=alls=3:allf=t:all_seed=2",
    ),
    (
        "camera",
        "mandelbrot=size=1600x900:rate=30:start_scale=0.3:end_scale=0.1:end_pts=300,format=yuv420p,\
         crop=1280:720:'160+150*sin(2*PI*t/5)':'90+80*sin(2*PI*t/3)',gblur=sigma=1,\
         noise=alls=3:allf=t:all_seed=3",
    ),
];

/// An encoder and its options.
pub(super) struct Encoding {
    /// The codec's name in the files that are written.
    pub(super) name: &'static str,
    options: &'static str,
    /// The values of ffmpeg's quantiser option at which WebRTC scales up, scales down, and stops
    /// scaling. For libvpx they are on its outer scale of 0…63 (tables `q_trans` of
    /// `vp8/encoder/onyx_if.c`, `quantizer_to_qindex` of `vp9/encoder/vp9_quantize.c`).
    pub(super) quantisers: [u32; 3],
    /// The value of ffmpeg's `-bufsize`, in milliseconds at the target rate.
    buffer_ms: u32,
}

/// The encoder settings of libwebrtc (`libvpx_vp8_encoder.cc`, `libvpx_vp9_encoder.cc`): one pass,
/// no lag, constant bit rate, an optimal buffer of 600 ms (ffmpeg uses 5/6 of `-bufsize` for it),
/// quantisers 2…56. x264 stands for OpenH264, with its options for low latency. The fixed
/// quantisers are: VP8 29, 94, 106 of 127; VP9 96, 184, 224 of 255; H.264 24, 37, 51 (thresholds of
/// `quality_scaler.cc`, see `sim::codec::LadderConfig`; the highest are `kDefaultQpMax` 56 and the
/// last of H.264).
pub(super) const ENCODINGS: [Encoding; 3] = [
    Encoding {
        name: "vp8",
        options: "-c:v libvpx -deadline realtime -cpu-used -6 -lag-in-frames 0 -auto-alt-ref 0 \
                  -undershoot-pct 100 -overshoot-pct 15 -max-intra-rate 900",
        quantisers: [24, 52, 56],
        buffer_ms: 720,
    },
    Encoding {
        name: "vp9",
        options: "-c:v libvpx-vp9 -deadline realtime -cpu-used 7 -aq-mode 3 -lag-in-frames 0 -auto-alt-ref 0 \
                  -undershoot-pct 50 -overshoot-pct 50 -max-intra-rate 900",
        quantisers: [24, 46, 56],
        buffer_ms: 720,
    },
    Encoding {
        name: "h264",
        options: "-c:v libx264 -preset veryfast -tune zerolatency -profile:v baseline -sc_threshold 0",
        quantisers: [24, 37, 51],
        buffer_ms: 600,
    },
];

/// The rate control of one encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateMode {
    /// Constant bit rate, with forced key frames.
    Rate {
        /// Target, kbit/s.
        kbps: u32,
        /// Seconds between key frames.
        key_every: u32,
    },
    /// One fixed quantiser, whatever the rate.
    Quantiser(u32),
}

impl Encoding {
    /// The arguments of ffmpeg between its input and its output.
    pub(super) fn arguments(&self, mode: RateMode) -> String {
        let libvpx = self.name != "h264";
        let control = match mode {
            RateMode::Quantiser(value) if libvpx => {
                format!(
                    "-qmin {value} -qmax {value} -b:v 2000k -minrate 2000k -maxrate 2000k -bufsize 1440k -g 100000"
                )
            }
            RateMode::Quantiser(value) => format!("-qp {value} -g 100000"),
            RateMode::Rate { kbps, key_every } => {
                let (buffer, start) = (kbps * self.buffer_ms / 1000, kbps / 2);
                let limits = if libvpx {
                    format!("-minrate {kbps}k -rc_init_occupancy {start}k -qmin 2 -qmax 56 ")
                } else {
                    String::new()
                };
                let keys = format!("-g 100000 -force_key_frames expr:gte(t,n_forced*{key_every})");
                format!("{limits}-b:v {kbps}k -maxrate {kbps}k -bufsize {buffer}k {keys}")
            }
        };
        format!("{} {control} -threads 1", self.options)
    }
}

/// A temporary folder for scenes and encodes, deleted when dropped.
pub(super) struct EncodeFolder {
    folder: PathBuf,
}

impl EncodeFolder {
    /// Makes an empty folder.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub(super) fn open() -> Result<Self, FitError> {
        let folder = std::env::temp_dir().join(format!("weir-fit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| FitError::file(&folder, error))?;
        Ok(Self { folder })
    }

    /// ffmpeg's version.
    ///
    /// # Errors
    /// When ffmpeg or ffprobe is missing.
    pub(super) fn version(&self) -> Result<String, FitError> {
        self.run("ffprobe", &["-version"])?;
        let output = self.run("ffmpeg", &["-version"])?;
        Ok(probe::version(&String::from_utf8_lossy(&output.stdout))
            .unwrap_or_else(|| "unknown".to_owned()))
    }

    /// Writes `NAME.y4m` for each generated scene, or for the user's file; returns the file names.
    ///
    /// # Errors
    /// When ffmpeg fails.
    pub(super) fn scenes(
        &self,
        source: Option<&Path>,
        seconds: u32,
    ) -> Result<Vec<String>, FitError> {
        let inputs: Vec<(&str, [String; 2])> = match source {
            Some(path) => {
                let path =
                    std::path::absolute(path).map_err(|error| FitError::file(path, error))?;
                vec![("source", ["-i".to_owned(), path.display().to_string()])]
            }
            None => SCENES
                .map(|(name, graph)| (name, ["-filter_complex".to_owned(), generated(graph)]))
                .into(),
        };
        let seconds = seconds.to_string();
        let mut names = Vec::new();
        for (name, [option, input]) in inputs {
            let file = format!("{name}.y4m");
            let end = ["-t", &seconds, "-pix_fmt", "yuv420p", &file];
            self.ffmpeg(&[&[option.as_str(), input.as_str()], end.as_slice()].concat())?;
            names.push(file);
        }
        Ok(names)
    }

    /// The frame rate of a scene, frames/s.
    ///
    /// # Errors
    /// When the file is not YUV4MPEG2.
    pub(super) fn frame_rate(&self, scene: &str) -> Result<u32, FitError> {
        let path = self.folder.join(scene);
        let mut header = String::new();
        let read = std::fs::File::open(&path)
            .and_then(|file| BufReader::new(file.take(1024)).read_line(&mut header));
        read.map_err(|error| FitError::file(&path, error))?;
        probe::y4m_frame_rate(&header).ok_or_else(|| FitError::output("ffmpeg", &header))
    }

    /// Encodes a scene at a size and returns the sizes of its frames.
    ///
    /// # Errors
    /// When ffmpeg or ffprobe fails or prints unexpected output.
    pub(super) fn encode(
        &self,
        scene: &str,
        (width, height): (u32, u32),
        encoding: &Encoding,
        mode: RateMode,
    ) -> Result<Vec<EncodedFrame>, FitError> {
        const ENTRIES: &str =
            "-v error -select_streams v:0 -show_entries packet=size,flags -of csv=p=0 encoded.mkv";
        let arguments = encoding.arguments(mode);
        let options: Vec<&str> = arguments.split_whitespace().collect();
        let size = format!("{width}x{height}");
        let input = ["-threads", "1", "-i", scene, "-s", &size];
        self.ffmpeg(&[input.as_slice(), options.as_slice(), &["encoded.mkv"]].concat())?;
        let entries: Vec<&str> = ENTRIES.split_whitespace().collect();
        let output = self.run("ffprobe", &entries)?;
        probe::packets(&String::from_utf8_lossy(&output.stdout))
            .map_err(|row| FitError::output("ffprobe", &row.to_string()))
    }

    /// Runs ffmpeg on one thread with low priority.
    fn ffmpeg(&self, arguments: &[&str]) -> Result<(), FitError> {
        const FIRST: &str =
            "-n 10 ffmpeg -hide_banner -nostdin -loglevel error -y -filter_threads 1";
        let first: Vec<&str> = FIRST.split_whitespace().collect();
        self.run("nice", &[first.as_slice(), arguments].concat()).map(|_| ())
    }

    fn run(&self, program: &'static str, arguments: &[&str]) -> Result<Output, FitError> {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| FitError::start(program, error))?;
        if output.status.success() {
            Ok(output)
        } else {
            Err(FitError::failed(program, &String::from_utf8_lossy(&output.stderr)))
        }
    }
}

impl Drop for EncodeFolder {
    fn drop(&mut self) {
        // If this fails, the system cleans its temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The filter graph without white space.
fn generated(graph: &str) -> String {
    graph.split_whitespace().collect()
}

/// The commands, for documentation: the scenes, then each encoder at 1 Mbit/s and with its first
/// fixed quantiser.
pub(super) fn commands(source: Option<&Path>, key_every: u32) -> Vec<String> {
    let scenes = match source {
        Some(path) => {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            vec![format!("ffmpeg -i {name} -t SECONDS -pix_fmt yuv420p SCENE.y4m")]
        }
        None => SCENES
            .iter()
            .map(|(name, graph)| {
                format!(
                    "ffmpeg -filter_complex {:?} -t SECONDS -pix_fmt yuv420p {name}.y4m",
                    generated(graph)
                )
            })
            .collect(),
    };
    let drives = |encoding: &Encoding| {
        [RateMode::Rate { kbps: 1000, key_every }, RateMode::Quantiser(encoding.quantisers[0])].map(
            |mode| {
                format!(
                    "ffmpeg -threads 1 -i SCENE.y4m -s SIZE {} encoded.mkv",
                    encoding.arguments(mode)
                )
            },
        )
    };
    scenes.into_iter().chain(ENCODINGS.iter().flat_map(drives)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_bit_rate_for_libvpx_sets_equal_minimum_and_maximum() {
        let mode = RateMode::Rate { kbps: 1000, key_every: 5 };
        let vp8 = ENCODINGS[0].arguments(mode);
        for part in [
            "-c:v libvpx ",
            "-b:v 1000k",
            "-minrate 1000k",
            "-maxrate 1000k",
            "-bufsize 720k",
            "occupancy 500k",
        ] {
            assert!(vp8.contains(part), "{part} in {vp8}");
        }
        let h264 = ENCODINGS[2].arguments(mode);
        assert!(
            h264.contains("-maxrate 1000k -bufsize 600k") && !h264.contains("-minrate"),
            "{h264}"
        );
        assert!(ENCODINGS[2].arguments(RateMode::Quantiser(37)).contains("-qp 37"));
        assert!(ENCODINGS[1].arguments(RateMode::Quantiser(46)).contains("-qmin 46 -qmax 46"));
    }

    #[test]
    fn the_commands_name_the_users_file_without_its_folder() {
        let commands = commands(Some(Path::new("/home/me/talk.y4m")), 4);
        assert!(commands[0].starts_with("ffmpeg -i talk.y4m "), "{}", commands[0]);
        assert_eq!(commands.len(), 1 + 2 * ENCODINGS.len());
    }
}

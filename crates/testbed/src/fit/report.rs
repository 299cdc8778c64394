//! The result of a fit, and the two files that hold it.

use super::FitError;
use super::estimate::Estimate;
use std::fmt::{self, Write};
use std::path::Path;

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// ffmpeg's version.
    pub ffmpeg: String,
    /// The commands; the parts that vary are in capitals.
    pub commands: Vec<String>,
    /// One fit per codec.
    pub codecs: Vec<CodecFit>,
}

/// The fitted parameters of a codec.
#[derive(Clone, Debug)]
pub struct CodecFit {
    /// `vp8`, `vp9` or `h264`.
    pub name: &'static str,
    /// SCALE_B of RFC 8593: median over the runs.
    pub size_noise: f64,
    /// Correlation from frame to frame: median.
    pub correlation: f64,
    /// K_B/B_0: median.
    pub key_frame_ratio: f64,
    /// Time constant of the compensation for a key frame, ms: median.
    pub payback_ms: f64,
    /// Whether `payback_ms` is fitted; else it is libvpx's rule, because most runs did not
    /// compensate.
    pub payback_fitted: bool,
    /// Bits per pixel at the coarsest quantiser: median, like the next two.
    pub floor_bits_per_pixel: f64,
    /// Bits per pixel at the quantiser where WebRTC scales down.
    pub down_bits_per_pixel: f64,
    /// Bits per pixel at the quantiser where WebRTC scales up.
    pub up_bits_per_pixel: f64,
    /// The number of runs that kept to their target and were used.
    pub used: usize,
    /// Every run at constant bit rate.
    pub runs: Vec<RunEstimate>,
    pub(super) held: Vec<FixedQuantiserRun>,
}

/// One encode at constant bit rate.
#[derive(Clone, Debug)]
pub struct RunEstimate {
    /// The scene.
    pub scene: String,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The target rate, kbit/s.
    pub kbps: u32,
    /// The mean rate divided by the target.
    pub over_target: f64,
    /// The time constant of the compensation for a key frame; `None` if there was none.
    pub payback_ms: Option<f64>,
    /// The estimates from its frames.
    pub estimate: Estimate,
}

/// One encode with a fixed quantiser.
#[derive(Clone, Debug)]
pub(super) struct FixedQuantiserRun {
    pub(super) scene: String,
    pub(super) size: (u32, u32),
    pub(super) quantiser: u32,
    pub(super) bits_per_pixel: f64,
}

impl FitReport {
    /// Writes `data/codecs.toml` and `src/codec/fitted.rs` into the folder of the crate `sim`.
    ///
    /// # Errors
    /// When a file cannot be written; the folder must hold the source of the crate.
    pub fn write(&self, sim: &Path) -> Result<(), FitError> {
        for (name, text) in
            [("data/codecs.toml", self.toml()), ("src/codec/fitted.rs", self.rust())]
        {
            let path = sim.join(name);
            std::fs::write(&path, text).map_err(|error| FitError::file(&path, error))?;
        }
        Ok(())
    }

    /// All results, in TOML.
    pub fn toml(&self) -> String {
        let mut text =
            String::from("# Fitted from real encodes; written by testbed::fit. Do not edit.\n");
        let _ = writeln!(text, "ffmpeg = {:?}\ncommands = [", self.ffmpeg);
        for command in &self.commands {
            let _ = writeln!(text, "  '''{command}''',");
        }
        text.push_str("]\n");
        for codec in &self.codecs {
            codec.toml(&mut text);
        }
        text
    }

    /// The constants of the model, in Rust.
    pub fn rust(&self) -> String {
        let mut text = format!(
            "//! Fitted from real encodes with ffmpeg {}; written by `testbed::fit` from the same run as\n\
             //! `data/codecs.toml`, which has the commands and every encode. Do not edit.\n\n\
             use super::config::Fit;\n",
            self.ffmpeg
        );
        for codec in &self.codecs {
            let name = codec.name.to_uppercase();
            let _ = writeln!(text, "\npub(super) const {name}: Fit = Fit {{");
            for (key, value) in codec.values() {
                let _ = writeln!(text, "    {key}: {value},");
            }
            text.push_str("};\n");
        }
        text
    }
}

impl CodecFit {
    /// Name and value of each parameter, as both files print them.
    fn values(&self) -> [(&'static str, String); 7] {
        [
            ("size_noise", format!("{:.4}", self.size_noise)),
            ("correlation", format!("{:.4}", self.correlation)),
            ("key_frame_ratio", format!("{:.3}", self.key_frame_ratio)),
            ("payback_ms", format!("{:.0}", self.payback_ms)),
            ("floor_bits_per_pixel", format!("{:.6}", self.floor_bits_per_pixel)),
            ("down_bits_per_pixel", format!("{:.6}", self.down_bits_per_pixel)),
            ("up_bits_per_pixel", format!("{:.6}", self.up_bits_per_pixel)),
        ]
    }

    fn toml(&self, text: &mut String) {
        let _ = writeln!(text, "\n[{}]", self.name);
        for (key, value) in self.values() {
            let _ = writeln!(text, "{key} = {value}");
        }
        let source = if self.payback_fitted { "fitted" } else { "libvpx's rule" };
        let _ = writeln!(text, "payback_source = {source:?}\nruns_used = {}\nruns = [", self.used);
        for run in &self.runs {
            let _ = writeln!(text, "  {{ {run} }},");
        }
        text.push_str("]\nheld = [\n");
        for held in &self.held {
            let _ = writeln!(
                text,
                "  {{ scene = {:?}, size = \"{}x{}\", quantiser = {}, bits_per_pixel = {:.6} }},",
                held.scene, held.size.0, held.size.1, held.quantiser, held.bits_per_pixel
            );
        }
        text.push_str("]\n");
    }
}

impl fmt::Display for RunEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "scene = {:?}, size = \"{}x{}\", kbps = {}",
            self.scene, self.size.0, self.size.1, self.kbps
        )?;
        write!(
            f,
            ", over_target = {:.3}, size_noise = {:.4}",
            self.over_target, self.estimate.size_noise
        )?;
        write!(f, ", correlation = {:.4}", self.estimate.correlation)?;
        write!(f, ", key_frame_ratio = {:.3}", self.estimate.key_frame_ratio)?;
        self.payback_ms.map_or(Ok(()), |payback| write!(f, ", payback_ms = {payback:.0}"))
    }
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "codec  runs  noise  corr.   key/frame  payback   bits/pixel:   floor  down    up"
        )?;
        for codec in &self.codecs {
            writeln!(
                f,
                "{:<5}  {:>2}/{:<2} {:.3}  {:>6.3}  {:>9.2}  {:>5.0} ms  {:>20.4} {:.4}  {:.4}",
                codec.name,
                codec.used,
                codec.runs.len(),
                codec.size_noise,
                codec.correlation,
                codec.key_frame_ratio,
                codec.payback_ms,
                codec.floor_bits_per_pixel,
                codec.down_bits_per_pixel,
                codec.up_bits_per_pixel
            )?;
        }
        write!(f, "ffmpeg {}", self.ffmpeg)
    }
}

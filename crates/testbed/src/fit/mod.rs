//! Fits the parameters of the video model (`sim::codec`, RFC 8593, section 5) to real encodes in
//! real-time mode.
//!
//! `scenes ─▶ ffmpeg: constant bit rate, and fixed quantiser ─▶ ffprobe: frame sizes ─▶ estimate ─▶
//! files`
//!
//! Two parameters are not fitted. The reaction lag τ_v keeps the value of RFC 8593, because ffmpeg
//! cannot change the rate of a running encoder. The interval noise belongs to the camera and not to
//! the encoder.

mod encode;
mod error;
mod estimate;
mod probe;
mod report;

pub use error::FitError;
pub use estimate::{EncodedFrame, Estimate, estimate};
pub use report::{CodecFit, FitReport, RunEstimate};

pub use encode::SCENES;
use encode::{ENCODINGS, EncodeFolder, Encoding, RateMode};
use estimate::median;
use report::FixedQuantiserRun;
use std::path::PathBuf;

/// The largest relative distance of the mean rate from its target. A run beyond it shows the limits
/// of the encoder, not its rate control, and is left out of the fit.
const MAX_OFF_TARGET: f64 = 0.1;
/// Seconds from a key frame to the steady state. More would leave too few of the four seconds
/// between two key frames. One time constant of libvpx's rate control, 1.2 s, leaves a third of the
/// debt.
const SETTLE_SECONDS: f64 = 1.5;
/// The time constant of libvpx's rate control in ms: a debt of the optimal buffer, 600 ms, halves
/// the frame (`vp9_ratectrl.c`, `vp9_calc_pframe_target_size_one_pass_cbr`; libwebrtc
/// `libvpx_vp8_encoder.cc`, `rc_buf_optimal_sz`).
const LIBVPX_PAYBACK_MS: f64 = 1_200.0;

/// The options of a fit.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// A video to encode instead of the generated scenes, in any format that ffmpeg reads.
    pub source: Option<PathBuf>,
    /// The length of each scene in seconds; at least 8, for two key frames with steady state.
    pub seconds: u32,
    /// Sizes in pixels.
    pub sizes: Vec<(u32, u32)>,
    /// Rates in kbit/s.
    pub rates_kbps: Vec<u32>,
}

impl Default for FitOptions {
    /// Two generated scenes, 640×360 and 1280×720, 300 kbit/s, 1 and 2 Mbit/s, 12 s each: about
    /// three minutes on one core.
    fn default() -> Self {
        Self {
            source: None,
            seconds: 12,
            sizes: vec![(640, 360), (1280, 720)],
            rates_kbps: vec![300, 1000, 2000],
        }
    }
}

/// Encodes and fits. `progress` is called with the number of finished encodes, the number of all
/// encodes, and the next encode.
///
/// # Errors
/// When ffmpeg is missing or fails, or no encode is usable.
pub fn run(
    options: &FitOptions,
    progress: &mut dyn FnMut(usize, usize, &str),
) -> Result<FitReport, FitError> {
    options.check()?;
    let folder = EncodeFolder::open()?;
    let ffmpeg = folder.version()?;
    progress(0, 0, "scenes");
    let scenes = folder.scenes(options.source.as_deref(), options.seconds)?;
    let mut fit_run = FitRun { options, folder, scenes, done: 0, progress };
    let codecs =
        ENCODINGS.iter().map(|encoding| fit_run.codec(encoding)).collect::<Result<_, _>>()?;
    Ok(FitReport {
        ffmpeg,
        commands: encode::commands(options.source.as_deref(), options.key_every()),
        codecs,
    })
}

impl FitOptions {
    fn check(&self) -> Result<(), FitError> {
        let even = |(width, height): &(u32, u32)| {
            *width > 0 && *height > 0 && width % 2 == 0 && height % 2 == 0
        };
        if self.seconds < 8 {
            Err(FitError::option(
                "seconds",
                "give at least 8, for two key frames with steady state",
            ))
        } else if self.sizes.is_empty() || !self.sizes.iter().all(even) {
            Err(FitError::option("sizes", "give at least one, in even numbers of pixels"))
        } else if self.rates_kbps.is_empty() || self.rates_kbps.iter().any(|rate| *rate < 10) {
            Err(FitError::option("rates", "give at least one, of 10 kbit/s or more"))
        } else {
            Ok(())
        }
    }

    /// Seconds between key frames: three key frames per encode, or as many as leave four seconds
    /// each.
    fn key_every(&self) -> u32 {
        (self.seconds / 3).max(4)
    }
}

struct FitRun<'a> {
    options: &'a FitOptions,
    folder: EncodeFolder,
    scenes: Vec<String>,
    done: usize,
    progress: &'a mut dyn FnMut(usize, usize, &str),
}

impl FitRun<'_> {
    fn codec(&mut self, encoding: &Encoding) -> Result<CodecFit, FitError> {
        let (mut runs, mut held) = (Vec::new(), Vec::new());
        for scene in self.scenes.clone() {
            let fps = f64::from(self.folder.frame_rate(&scene)?);
            for &size in &self.options.sizes {
                for &kbps in &self.options.rates_kbps {
                    runs.extend(self.rate(encoding, &scene, fps, size, kbps)?);
                }
                for quantiser in encoding.quantisers {
                    held.extend(self.hold(encoding, &scene, size, quantiser)?);
                }
            }
        }
        fit(encoding, runs, held).ok_or(FitError::Unusable { codec: encoding.name })
    }

    /// Makes one encode at constant bit rate.
    fn rate(
        &mut self,
        encoding: &Encoding,
        scene: &str,
        fps: f64,
        size: (u32, u32),
        kbps: u32,
    ) -> Result<Option<RunEstimate>, FitError> {
        let mode = RateMode::Rate { kbps, key_every: self.options.key_every() };
        let frames = self.encode(encoding, scene, size, mode)?;
        let bytes: u64 = frames.iter().map(|frame| frame.size).sum();
        let share = f64::from(kbps) * 1000.0 / 8.0 / fps;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "some tens of frames"
        )]
        let settle = (SETTLE_SECONDS * fps) as usize;
        Ok(estimate(&frames, settle).map(|estimate| RunEstimate {
            scene: scene.trim_end_matches(".y4m").to_owned(),
            size,
            kbps,
            over_target: bytes as f64 / frames.len() as f64 / share,
            payback_ms: estimate.payback_frames.map(|frames| frames * 1000.0 / fps),
            estimate,
        }))
    }

    /// Makes one encode with a fixed quantiser, and computes the bits per pixel of the frames that
    /// are not key frames.
    fn hold(
        &mut self,
        encoding: &Encoding,
        scene: &str,
        size: (u32, u32),
        quantiser: u32,
    ) -> Result<Option<FixedQuantiserRun>, FitError> {
        let frames = self.encode(encoding, scene, size, RateMode::Quantiser(quantiser))?;
        let ordinary: Vec<f64> =
            frames.iter().filter(|frame| !frame.key).map(|frame| frame.size as f64).collect();
        let bits = ordinary.iter().sum::<f64>() * 8.0;
        let pixels = f64::from(size.0) * f64::from(size.1) * ordinary.len() as f64;
        let scene = scene.trim_end_matches(".y4m").to_owned();
        Ok((bits > 0.0).then(|| FixedQuantiserRun {
            scene,
            size,
            quantiser,
            bits_per_pixel: bits / pixels,
        }))
    }

    fn encode(
        &mut self,
        encoding: &Encoding,
        scene: &str,
        size: (u32, u32),
        mode: RateMode,
    ) -> Result<Vec<EncodedFrame>, FitError> {
        let variants = self.options.rates_kbps.len() + encoding.quantisers.len();
        let all = ENCODINGS.len() * self.scenes.len() * self.options.sizes.len() * variants;
        (self.progress)(
            self.done,
            all,
            &format!("{} {scene} {}x{} {mode:?}", encoding.name, size.0, size.1),
        );
        self.done += 1;
        self.folder.encode(scene, size, encoding, mode)
    }
}

/// The medians over the runs that kept to their targets, and over those with a fixed quantiser.
fn fit(
    encoding: &Encoding,
    runs: Vec<RunEstimate>,
    held: Vec<FixedQuantiserRun>,
) -> Option<CodecFit> {
    let usable: Vec<&RunEstimate> =
        runs.iter().filter(|run| (run.over_target - 1.0).abs() <= MAX_OFF_TARGET).collect();
    let over =
        |value: fn(&RunEstimate) -> f64| median(usable.iter().map(|run| value(run)).collect());
    let [up, down, floor] = encoding.quantisers.map(|quantiser| median_bits(&held, quantiser));
    let payback = over(|run| run.payback_ms.unwrap_or(f64::INFINITY))?;
    Some(CodecFit {
        name: encoding.name,
        size_noise: over(|run| run.estimate.size_noise)?,
        correlation: over(|run| run.estimate.correlation)?,
        key_frame_ratio: over(|run| run.estimate.key_frame_ratio)?,
        payback_ms: if payback.is_finite() { payback } else { LIBVPX_PAYBACK_MS },
        payback_fitted: payback.is_finite(),
        // A coarser quantiser can cost more bits where prediction gets worse; the encoder would not
        // use it.
        floor_bits_per_pixel: floor?.min(down?),
        down_bits_per_pixel: down?,
        up_bits_per_pixel: up?,
        used: usable.len(),
        runs,
        held,
    })
}

fn median_bits(held: &[FixedQuantiserRun], quantiser: u32) -> Option<f64> {
    median(
        held.iter()
            .filter(|held| held.quantiser == quantiser)
            .map(|held| held.bits_per_pixel)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::codec::{Codec, Encoder, EncoderConfig, LadderConfig, ModelParameters, SourceSize};
    use units::{Bitrate, Seed, Time};

    /// The frames of the model at 2 Mbit/s, 640×360 and 30 frames/s, with a key frame every eight
    /// seconds.
    fn modelled(codec: Codec) -> Vec<EncodedFrame> {
        let rate = Bitrate::from_mbps(2);
        let source = SourceSize { width: 640, height: 360, fps: 30 };
        let ladder = LadderConfig { enabled: false, ..LadderConfig::fitted(codec) };
        let config = EncoderConfig { ladder, ..EncoderConfig::new(codec, source, rate) };
        let mut encoder = Encoder::new(config, Seed(21).stream("model"), rate);
        let mut frames = Vec::new();
        while encoder.next_capture() < Time::from_secs(4_000) {
            if frames.len() % 240 == 0 {
                encoder.request_key_frame();
            }
            let frame = encoder.capture(encoder.next_capture());
            frames
                .extend(frame.map(|frame| EncodedFrame { size: frame.size.get(), key: frame.key }));
        }
        frames
    }

    #[test]
    fn a_fit_of_the_model_returns_its_parameters() {
        for codec in [Codec::Vp8, Codec::Vp9, Codec::H264] {
            let model = ModelParameters::fitted(codec);
            let again = estimate(&modelled(codec), 120).unwrap();
            let near =
                |value: f64, expected: f64, share: f64| (value / expected - 1.0).abs() < share;
            assert!(near(again.size_noise, model.size_noise, 0.06), "{codec}: {again:?}");
            assert!((again.correlation - model.correlation).abs() < 0.06, "{codec}: {again:?}");
            // The frames that a key frame is compared with still compensate for it.
            assert!(near(again.key_frame_ratio, model.burst_ratio, 0.06), "{codec}: {again:?}");
            let payback = again.payback_frames.unwrap() / 30.0;
            assert!(near(payback, model.payback.as_secs_f64(), 0.15), "{codec}: {again:?}");
        }
    }

    #[test]
    fn invalid_options_are_refused() {
        let refused = |options: FitOptions| options.check().unwrap_err().to_string();
        let good = FitOptions::default();
        assert!(good.check().is_ok());
        assert!(
            refused(FitOptions { seconds: 7, ..good.clone() })
                .starts_with("seconds: give at least 8")
        );
        assert!(
            refused(FitOptions { sizes: vec![(641, 360)], ..good.clone() }).starts_with("sizes: ")
        );
        assert!(refused(FitOptions { sizes: Vec::new(), ..good.clone() }).starts_with("sizes: "));
        assert!(refused(FitOptions { rates_kbps: vec![0], ..good }).starts_with("rates: "));
    }

    #[test]
    fn runs_off_target_are_left_out_and_both_files_have_the_same_values() {
        let run = |over_target: f64, size_noise: f64| RunEstimate {
            scene: "head".to_owned(),
            size: (640, 360),
            kbps: 300,
            over_target,
            payback_ms: None,
            estimate: Estimate {
                size_noise,
                correlation: 0.1,
                key_frame_ratio: 4.0,
                payback_frames: None,
            },
        };
        let held = |(quantiser, bits_per_pixel)| FixedQuantiserRun {
            scene: "head".to_owned(),
            size: (640, 360),
            quantiser,
            bits_per_pixel,
        };
        let runs = vec![run(1.0, 0.1), run(1.5, 0.9), run(0.95, 0.2)];
        let fit =
            fit(&ENCODINGS[0], runs, [(24, 0.1), (52, 0.02), (56, 0.03)].map(held).into()).unwrap();
        assert_eq!((fit.used, fit.payback_fitted, fit.payback_ms), (2, false, 1_200.0));
        assert!((fit.size_noise - 0.15).abs() < 1e-9);
        assert_eq!(fit.floor_bits_per_pixel, 0.02, "not above the next finer quantiser");
        let report = FitReport {
            ffmpeg: "1".to_owned(),
            commands: vec!["ffmpeg".to_owned()],
            codecs: vec![fit],
        };
        assert!(report.toml().contains("\n[vp8]\nsize_noise = 0.1500\n"), "{}", report.toml());
        assert!(
            report.rust().contains("const VP8: Fit = Fit {\n    size_noise: 0.1500,\n"),
            "{}",
            report.rust()
        );
        assert!(report.toml().contains("payback_source = \"libvpx's rule\""));
    }
}

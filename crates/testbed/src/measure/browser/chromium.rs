//! The options of Chromium.

use super::Camera;
use serde_json::json;
use std::path::Path;
use thirtyfour::error::WebDriverResult;
use thirtyfour::{Capabilities, ChromiumLikeCapabilities, DesiredCapabilities};

/// The command-line flags of every Chromium. Names: `chrome/common/chrome_switches.cc`,
/// `content/public/common/content_switches.cc`, `media/base/media_switches.cc`.
const FLAGS: [&str; 21] = [
    // No window: a run needs no display.
    "--headless",
    // Containers often limit /dev/shm to 64 MB, which a video call exceeds.
    "--disable-dev-shm-usage",
    // No graphics card: attempts to use one would only delay the start.
    "--disable-gpu",
    // The sound of the call needs no audio device.
    "--mute-audio",
    // Camera and microphone are files, used without a question.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    // The remote video plays without a click.
    "--autoplay-policy=no-user-gesture-required",
    // Host candidates contain the host's address instead of an mDNS name
    // (draft-ietf-rtcweb-mdns-ice-candidates), which cannot be resolved on the hosts. The other
    // features would load models and lists.
    "--disable-features=WebRtcHideLocalIpsWithMdns,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,Translate,AsyncDns",
    // Hidden pages are not slowed down.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    // No packets besides the call: no updates, no reports, no lists, no pings, no detection of a
    // proxy, no QUIC.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--no-pings",
    "--no-proxy-server",
    // No welcome page and no question.
    "--no-default-browser-check",
    "--no-first-run",
];

/// The field trials of SCReAM v2 with ECT(1), and of the feedback of RFC 8888 that it needs
/// (libwebrtc `modules/congestion_controller/goog_cc_scream_network_controller`,
/// `call/rtp_transport_controller_send.cc`).
pub(super) const SCREAM: &str =
    "WebRTC-RFC8888CongestionControlFeedback/Enabled,offer:true/WebRTC-Bwe-ScreamV2/Enabled/";

/// Chromium refuses to run as root in its sandbox.
const AS_ROOT: &str = "--no-sandbox";

/// The capabilities of a session. Chromium writes a log of each peer connection into the folder
/// `event_logs`, which must exist. `trials` are names and groups of field trials, separated by
/// slashes. `trusted_key` is that of [`super::Launch`].
pub(super) fn capabilities(
    binary: &Path,
    (home, event_logs): (&Path, Option<&Path>),
    camera: Option<Camera<'_>>,
    trials: Option<&str>,
    trusted_key: Option<&str>,
) -> WebDriverResult<Capabilities> {
    let mut wanted = DesiredCapabilities::chrome();
    wanted.set_binary(&binary.to_string_lossy())?;
    for flag in FLAGS {
        wanted.add_arg(flag)?;
    }
    if rustix::process::geteuid().is_root() {
        wanted.add_arg(AS_ROOT)?;
    }
    wanted.add_arg(&format!("--user-data-dir={}", home.join("profile").display()))?;
    if let Some(camera) = camera {
        wanted.add_arg(&format!("--use-file-for-fake-video-capture={}", camera.video.display()))?;
        wanted.add_arg(&format!("--use-file-for-fake-audio-capture={}", camera.audio.display()))?;
    }
    if let Some(trials) = trials {
        wanted.add_arg(&format!("--force-fieldtrials={trials}"))?;
    }
    if let Some(key) = trusted_key {
        // components/network_session_configurator/common/network_switch_list.h; it needs the
        // user data folder that is set above.
        wanted.add_arg(&format!("--ignore-certificate-errors-spki-list={key}"))?;
    }
    if let Some(folder) = event_logs {
        wanted.add_arg(&format!("--webrtc-event-logging={}", folder.display()))?;
    }
    // An empty page at the start: the default page takes half a second of processor time.
    let empty = json!({ "session": { "restore_on_startup": 4, "startup_urls": ["about:blank"] } });
    wanted.add_experimental_option("prefs", empty)?;
    Ok(wanted.into())
}

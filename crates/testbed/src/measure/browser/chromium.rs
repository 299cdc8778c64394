//! How Chromium is started.

use super::Camera;
use serde_json::json;
use std::path::Path;
use thirtyfour::error::WebDriverResult;
use thirtyfour::{Capabilities, ChromiumLikeCapabilities, DesiredCapabilities};

/// The command-line flags of every Chromium, and why each is there. Names:
/// `chrome/common/chrome_switches.cc`, `content/public/common/content_switches.cc`,
/// `media/base/media_switches.cc`.
const FLAGS: [&str; 21] = [
    // No window: a run needs no display.
    "--headless",
    // Containers often give /dev/shm 64 MB, which a video call exceeds.
    "--disable-dev-shm-usage",
    // No graphics card: what would try one falls back after a while.
    "--disable-gpu",
    // The call's own sound needs no device.
    "--mute-audio",
    // Camera and microphone are files, and nobody is there to be asked for them.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    // The remote video plays without a click.
    "--autoplay-policy=no-user-gesture-required",
    // Host candidates carry the host's address instead of a name of mDNS
    // (draft-ietf-rtcweb-mdns-ice-candidates), which nobody there could look up. The others would
    // load their models and lists.
    "--disable-features=WebRtcHideLocalIpsWithMdns,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,Translate,AsyncDns",
    // A page that is not seen is not slowed down.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    // Nothing but the call's packets: no updates, no reports, no lists, no pings, no look-ups of a
    // proxy, no QUIC beside the call.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--no-pings",
    "--no-proxy-server",
    // No welcome, no question.
    "--no-default-browser-check",
    "--no-first-run",
];

/// Chromium refuses to run as root within its sandbox.
const AS_ROOT: &str = "--no-sandbox";

/// What a session asks for.
pub(super) fn capabilities(
    binary: &Path,
    home: &Path,
    camera: Option<Camera<'_>>,
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
    // An empty page at the start: the usual one is a program of its own, which takes half a second
    // of a processor.
    let empty = json!({ "session": { "restore_on_startup": 4, "startup_urls": ["about:blank"] } });
    wanted.add_experimental_option("prefs", empty)?;
    Ok(wanted.into())
}

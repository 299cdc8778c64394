//! The options of Firefox.

use serde_json::{Value, json};
use std::path::Path;
use thirtyfour::common::capabilities::firefox::FirefoxPreferences;
use thirtyfour::error::WebDriverResult;
use thirtyfour::{Capabilities, DesiredCapabilities};

/// The preferences of every Firefox, in addition to those that Marionette sets for tests
/// (`remote/shared/RecommendedPreferences.sys.mjs`). Names:
/// `modules/libpref/init/StaticPrefList.yaml`, `browser/app/profile/firefox.js`.
fn preferences() -> Vec<(&'static str, Value)> {
    vec![
        // Host candidates contain the host's address instead of an mDNS name, which cannot be
        // resolved on the hosts.
        ("media.peerconnection.ice.obfuscate_host_addresses", json!(false)),
        // The film and the remote video play without a click.
        ("media.autoplay.default", json!(0)),
        ("media.autoplay.blocking_policy", json!(0)),
        // Pages get Firefox's own fake devices, without a question.
        ("media.navigator.streams.fake", json!(true)),
        ("media.navigator.permission.disabled", json!(true)),
        // No download of OpenH264 or a DRM module during a run.
        ("media.gmp-manager.updateEnabled", json!(false)),
        ("media.gmp-manager.url", json!("")),
        // Hidden pages are not slowed down.
        ("dom.min_background_timeout_value", json!(4)),
        ("dom.timeout.enable_budget_timer_throttling", json!(false)),
        ("widget.windows.window_occlusion_tracking.enabled", json!(false)),
        // No packets besides the call: no experiments, no lists, no detection of a proxy or of
        // Internet access.
        ("app.normandy.enabled", json!(false)),
        ("nimbus.rollouts.enabled", json!(false)),
        ("network.captive-portal-service.enabled", json!(false)),
        ("network.connectivity-service.enabled", json!(false)),
        ("network.proxy.type", json!(0)),
        ("services.settings.server", json!("data:,#remote-settings-dummy/v1")),
        // An empty page at the start, and no spare processes for later pages, each of which takes
        // half a second of processor time.
        ("browser.startup.page", json!(0)),
        ("browser.newtabpage.enabled", json!(false)),
        ("browser.newtab.preload", json!(false)),
        ("dom.ipc.processPrelaunch.enabled", json!(false)),
        // The console of the page is written to the log.
        ("devtools.console.stdout.content", json!(true)),
    ]
}

/// The capabilities of a session.
pub(super) fn capabilities(binary: &Path) -> WebDriverResult<Capabilities> {
    let mut wanted = DesiredCapabilities::firefox();
    wanted.set_firefox_binary(&binary.to_string_lossy())?;
    wanted.set_headless()?;
    let mut set = FirefoxPreferences::new();
    for (name, value) in preferences() {
        set.set(name, value)?;
    }
    wanted.set_preferences(set)?;
    Ok(wanted.into())
}

//! How Firefox is started.

use serde_json::{Value, json};
use std::path::Path;
use thirtyfour::common::capabilities::firefox::FirefoxPreferences;
use thirtyfour::error::WebDriverResult;
use thirtyfour::{Capabilities, DesiredCapabilities};

/// The preferences of every Firefox beyond those that Marionette sets for tests
/// (`remote/shared/RecommendedPreferences.sys.mjs`), and why each is there. Names:
/// `modules/libpref/init/StaticPrefList.yaml`, `browser/app/profile/firefox.js`.
fn preferences() -> Vec<(&'static str, Value)> {
    vec![
        // Host candidates carry the host's address instead of a name of mDNS, which nobody there
        // could look up.
        ("media.peerconnection.ice.obfuscate_host_addresses", json!(false)),
        // Film and remote video play without a click.
        ("media.autoplay.default", json!(0)),
        ("media.autoplay.blocking_policy", json!(0)),
        // Where a page asks for devices, Firefox's own fake ones, and nobody is asked.
        ("media.navigator.streams.fake", json!(true)),
        ("media.navigator.permission.disabled", json!(true)),
        // No download of an OpenH264 or a DRM module in the middle of a run.
        ("media.gmp-manager.updateEnabled", json!(false)),
        ("media.gmp-manager.url", json!("")),
        // A page that is not seen is not slowed down.
        ("dom.min_background_timeout_value", json!(4)),
        ("dom.timeout.enable_budget_timer_throttling", json!(false)),
        ("widget.windows.window_occlusion_tracking.enabled", json!(false)),
        // Nothing but the call's packets: no experiments, no lists, no look-ups of a proxy or of
        // whether there is an Internet.
        ("app.normandy.enabled", json!(false)),
        ("nimbus.rollouts.enabled", json!(false)),
        ("network.captive-portal-service.enabled", json!(false)),
        ("network.connectivity-service.enabled", json!(false)),
        ("network.proxy.type", json!(0)),
        ("services.settings.server", json!("data:,#remote-settings-dummy/v1")),
        // An empty page at the start, and no processes in store for pages that never come: half a
        // second of a processor each.
        ("browser.startup.page", json!(0)),
        ("browser.newtabpage.enabled", json!(false)),
        ("browser.newtab.preload", json!(false)),
        ("dom.ipc.processPrelaunch.enabled", json!(false)),
        // What the page writes to its console is in the log.
        ("devtools.console.stdout.content", json!(true)),
    ]
}

/// What a session asks for.
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

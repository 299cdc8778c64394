use crate::output::{eprint, eprint_above, is_watched};
use document::shown::escaped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Commands shorter than this show no progress.
const PATIENCE: Duration = Duration::from_secs(2);
/// The interval between lines if standard error is not a terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Progress on standard error: a bar on a terminal, otherwise a line from time to time.
pub(crate) struct Progress {
    quiet: bool,
    /// The unit that is counted: runs, seconds.
    unit: &'static str,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    /// What was done already at the first call, such as runs that were stored.
    before: Option<usize>,
    newest_line: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    #[expect(clippy::disallowed_methods, reason = "the user's clock, not a run's")]
    pub(crate) fn new(quiet: bool, unit: &'static str) -> Self {
        let now = Instant::now();
        Self {
            quiet,
            unit,
            state: Mutex::new(State { started: now, before: None, newest_line: now, bar: None }),
        }
    }

    /// Shows that `done` of `total` are finished.
    pub(crate) fn show(&self, done: usize, total: usize) {
        self.show_with(done, total, "");
    }

    /// Shows that `done` of `total` are finished, and a detail beside them.
    pub(crate) fn show_with(&self, done: usize, total: usize, detail: &str) {
        if self.quiet {
            return;
        }
        let Ok(mut state) = self.state.lock() else { return };
        let before = *state.before.get_or_insert(done.saturating_sub(1));
        if state.started.elapsed() < PATIENCE {
            return;
        }
        if is_watched() {
            let bar = state.bar(total, self.unit);
            bar.set_message(escaped(detail).into_owned());
            bar.set_position(done as u64);
        } else if state.newest_line.elapsed() >= BETWEEN_LINES {
            let since = state.newest_line.elapsed();
            state.newest_line += since;
            let detail = if detail.is_empty() { String::new() } else { format!("; {detail}") };
            let pace = pace(done - before, total - done, state.started.elapsed());
            eprint(&format!("{done} of {total} {}{pace}{detail}", self.unit));
        }
    }

    /// Shows a line, above the bar if there is one.
    pub(crate) fn line(&self, text: &str) {
        let Ok(state) = self.state.lock() else { return };
        match &state.bar {
            Some(bar) => eprint_above(bar, text),
            None => eprint(text),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Ok(state) = self.state.lock()
            && let Some(bar) = &state.bar
        {
            bar.finish_and_clear();
        }
    }
}

/// The rate and the time left, once both are known: `, 12.3 per second, 41 min left`.
fn pace(done: usize, left: usize, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64();
    if !(rate > 0.0 && rate.is_finite()) {
        return String::new();
    }
    let seconds = left as f64 / rate;
    let left = if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    };
    format!(", {rate:.1} per second, {left} left")
}

impl State {
    fn bar(&mut self, total: usize, unit: &str) -> &ProgressBar {
        let elapsed = self.started.elapsed();
        self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(
                Some(total as u64),
                ProgressDrawTarget::stderr_with_hz(5),
            );
            let style = ProgressStyle::with_template(&format!(
                "{{bar:30}} {{pos}} of {{len}} {unit}, {{per_sec}}, {{eta}} left  {{wide_msg}}"
            ));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.with_elapsed(elapsed)
        })
    }
}

use super::files::Files;
use include_dir::{Dir, include_dir};
use std::sync::LazyLock;

static EXPERIMENTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../experiments");

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names = Vec::new();
    for folder in EXPERIMENTS.dirs() {
        for file in folder.files() {
            if let Some(name) = file.path().to_str().and_then(|path| path.strip_suffix(".toml")) {
                names.push(name.to_owned());
            }
        }
    }
    names.sort_by_cached_key(|name| natural(name));
    names
});

/// The names of the built-in experiments: `carlucci-2017/fig11`, ….
#[must_use]
pub fn names() -> &'static [String] {
    &NAMES
}

/// The text of a built-in experiment and the files beside it.
pub(crate) fn find(name: &str) -> Option<(&'static str, Files)> {
    let (folder, _) = name.split_once('/')?;
    let text = EXPERIMENTS.get_file(format!("{name}.toml"))?.contents_utf8()?;
    Some((text, Files::embedded(EXPERIMENTS.get_dir(folder)?)))
}

/// A sort key in which digits compare as numbers: `fig8-10` is after `fig8-4`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    for c in name.chars() {
        let last = parts.len() - 1;
        match c.to_digit(10) {
            Some(digit) => {
                parts[last].1 = parts[last].1.saturating_mul(10).saturating_add(digit.into());
            }
            None if parts[last].1 > 0 => parts.push((c.to_string(), 0)),
            None => parts[last].0.push(c),
        }
    }
    parts
}

use include_dir::{Dir, include_dir};

static SWEEPS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../sweeps");

/// The names of the built-in sweeps: `carlucci-2017/fig5`, ….
#[must_use]
pub fn names() -> Vec<String> {
    let files = SWEEPS.dirs().flat_map(Dir::files);
    let name = |path: &str| path.strip_suffix(".toml").map(str::to_owned);
    let mut names: Vec<String> =
        files.filter_map(|file| file.path().to_str().and_then(name)).collect();
    names.sort();
    names
}

/// The text of a built-in sweep.
#[must_use]
pub fn find(name: &str) -> Option<&'static str> {
    SWEEPS.get_file(format!("{name}.toml"))?.contents_utf8()
}

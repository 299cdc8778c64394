//! `weir import`: recordings of other programs, as runs.

use super::eprint;
use crate::cli::Import;
use crate::failure::Failure;
use crate::output::Output;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Store;
use testbed::import::{Joined, Opened, join, open};

pub(crate) fn run(args: &Import) -> Result<ExitCode, Failure> {
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.files[0]));
    let joined = joined(&args.files, &name)?;
    let mut store = Store::create_or_open(&args.store)?;
    let recording = &joined.imported.recording;
    let meta = joined.imported.meta(&name);
    let id = store.insert(&meta, recording, &metrics::usual(recording))?;
    let mut out = Output::new();
    out.line(format_args!("run {id} of {name} in {}", args.store.display()))?;
    if let Some(clocks) = clocks(&joined) {
        out.line(clocks)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the files and joins them. What is damaged or skipped becomes a warning.
pub(super) fn joined(files: &[PathBuf], title: &str) -> Result<Joined, Failure> {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let opened = files.iter().map(|file| opened(file)).collect::<Result<Vec<_>, _>>()?;
    join(&opened, title).map_err(|error| Failure::new(format!("{}: {error}", names.join(", "))))
}

/// Opens a recording. What is damaged or skipped becomes a warning.
pub(super) fn opened(path: &Path) -> Result<Opened, Failure> {
    let name = path.display();
    let of_file = |error: &dyn std::fmt::Display| Failure::new(format!("{name}: {error}"));
    let file = File::open(path)
        .map_err(|error| of_file(&format!("cannot read it: {error}; check the name")))?;
    let opened = open(file).map_err(|error| of_file(&error))?;
    if let Some(damage) = opened.damage() {
        eprint(&format!("warning: {name}: {damage}; what was readable is used"));
    }
    if let Some(skipped) = opened.skipped() {
        eprint(&format!("{name}: {skipped}"));
    }
    Ok(opened)
}

/// The clocks of joined recordings in one sentence.
pub(super) fn clocks(joined: &Joined) -> Option<String> {
    if !joined.is_joined {
        return None;
    }
    Some(match &joined.clock {
        None => "the clocks are taken to be equal: no recording has sender reports of both".into(),
        Some(clock) => {
            let drift = match clock.drift {
                Some(drift) => format!("drift {:+.1} ppm", drift * 1e6),
                None => "too short to estimate drift".to_owned(),
            };
            format!(
                "second clock − first clock: {:+.1} ms ± {:.1} ms, {drift}",
                clock.offset * 1e3,
                clock.uncertainty * 1e3
            )
        }
    })
}

/// The file's name without folders and extensions.
fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = name.split('.').next().unwrap_or_default();
    if plain.is_empty() { "imported".to_owned() } else { plain.to_owned() }
}

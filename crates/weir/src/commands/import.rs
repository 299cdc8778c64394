use crate::cli::Import;
use crate::failure::Failure;
use crate::output::Output;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use store::Store;
use testbed::measure::internals;

pub(crate) fn run(args: &Import) -> Result<ExitCode, Failure> {
    let of_dump =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", args.dump.display()));
    let file = File::open(&args.dump)
        .map_err(|error| of_dump(&format!("cannot read it: {error}; check the name")))?;
    let dump = internals::read(file).map_err(|error| of_dump(&error))?;
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.dump));
    let imported = internals::import(&dump, &name).map_err(|error| of_dump(&error))?;
    let mut store = Store::create_or_open(&args.store)?;
    let recording = &imported.recording;
    let id = store.insert(&imported.meta(&name), recording, &metrics::usual(recording))?;
    let mut out = Output::new();
    out.line(format_args!("run {id} of {name} in {}", args.store.display()))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The file's name without folders and extensions.
fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = name.split('.').next().unwrap_or_default();
    if plain.is_empty() { "imported".to_owned() } else { plain.to_owned() }
}

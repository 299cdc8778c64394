use include_dir::Dir;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest trace or list of frame sizes that is read: a day of an LTE trace has about this
/// size.
const MAX_BYTES: u64 = 64 << 20;

/// Where the files that an experiment names are found, and those that were read already: a grid
/// reads each once.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    source: Source,
    read: Arc<Mutex<BTreeMap<String, Arc<str>>>>,
}

#[derive(Clone, Debug)]
enum Source {
    Disk(PathBuf),
    Embedded(&'static Dir<'static>),
}

impl Files {
    /// The files beside an experiment on disk.
    pub(crate) fn beside(experiment: &Path) -> Self {
        Self::of(Source::Disk(experiment.parent().unwrap_or(Path::new("")).to_owned()))
    }

    /// The files beside an embedded experiment.
    pub(crate) fn embedded(folder: &'static Dir<'static>) -> Self {
        Self::of(Source::Embedded(folder))
    }

    fn of(source: Source) -> Self {
        Self { source, read: Arc::default() }
    }

    /// The text of the file of this name, or why there is none.
    pub(crate) fn text(&self, name: &str) -> Result<Arc<str>, String> {
        if let Some(text) = self.seen().get(name) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = match &self.source {
            Source::Disk(folder) => read_text(&folder.join(name), MAX_BYTES)?.into(),
            Source::Embedded(folder) => {
                let file =
                    folder.get_file(folder.path().join(name)).and_then(|file| file.contents_utf8());
                file.ok_or_else(|| format!("there is no file '{name}' beside the experiment"))?
                    .into()
            }
        };
        self.seen().insert(name.to_owned(), Arc::clone(&text));
        Ok(text)
    }

    /// The path of the file of this name, whether or not it is there: one beside the experiment, or
    /// below the folder in which the program runs if the experiment is embedded.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match &self.source {
            Source::Disk(folder) => folder.join(name),
            Source::Embedded(_) => PathBuf::from(name),
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<str>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a file of at most `most` bytes, or why not.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no file '{shown}'"),
        _ => format!("'{shown}' cannot be read: {error}"),
    };
    let size = std::fs::metadata(path).map_err(unreadable)?;
    if size.is_dir() {
        return Err(format!("'{shown}' is a folder"));
    }
    if !size.is_file() {
        return Err(format!("'{shown}' is not a regular file"));
    }
    if size.len() > most {
        return Err(format!("'{shown}' is larger than {} kB", most / 1000));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| format!("'{shown}' is not text (UTF-8)"))
}

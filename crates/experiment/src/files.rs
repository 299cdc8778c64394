use include_dir::Dir;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest trace or list of frame sizes that is read, in bytes. A day of an LTE trace has about
/// this size.
const MAX_BYTES: u64 = 64 << 20;

/// The files that an experiment names. Each is read once, however many cells name it.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    source: Source,
    read: Arc<Mutex<BTreeMap<String, Arc<str>>>>,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("there is no file '{0}'")]
    Missing(String),
    #[error("there is no file '{0}' beside the experiment")]
    MissingBesideExperiment(String),
    #[error("'{0}' cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    #[error("'{0}' is a folder")]
    Folder(String),
    #[error("'{0}' is not a regular file")]
    NotRegular(String),
    #[error("'{path}' is larger than {} kB", .limit / 1000)]
    TooLarge { path: String, limit: u64 },
    #[error("'{0}' is not text (UTF-8)")]
    NotUtf8(String),
    #[error("'{0}' is outside the folder of the experiments")]
    Outside(String),
    #[error("'{0}' cannot be read: this experiment is in no folder, so it may name no file")]
    NoFolder(String),
}

#[derive(Clone, Debug)]
enum Source {
    Disk(PathBuf),
    /// Beside the experiment, in the first folder, and nowhere outside the second folder.
    Within(PathBuf, PathBuf),
    Embedded(&'static Dir<'static>),
    Nowhere,
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

    /// The files beside an experiment on disk that are in `folder`, whatever links and `..` say;
    /// none without a folder.
    pub(crate) fn within(experiment: &Path, folder: Option<&Path>) -> Self {
        let Some(folder) = folder else { return Self::of(Source::Nowhere) };
        let beside = experiment.parent().unwrap_or(Path::new(""));
        Self::of(Source::Within(folder.join(beside), folder.to_owned()))
    }

    fn of(source: Source) -> Self {
        Self { source, read: Arc::default() }
    }

    /// The text of the file of this name.
    pub(crate) fn text(&self, name: &str) -> Result<Arc<str>, ReadError> {
        if let Some(text) = self.cache().get(name) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = match &self.source {
            Source::Disk(folder) => read_text(&folder.join(name), MAX_BYTES)?.into(),
            Source::Within(beside, folder) => {
                let path = beside.join(name);
                let real = |path: &Path| {
                    path.canonicalize().map_err(|_| ReadError::Missing(name.to_owned()))
                };
                if !real(&path)?.starts_with(real(folder)?) {
                    return Err(ReadError::Outside(name.to_owned()));
                }
                read_text(&path, MAX_BYTES)?.into()
            }
            Source::Nowhere => return Err(ReadError::NoFolder(name.to_owned())),
            Source::Embedded(folder) => {
                let file =
                    folder.get_file(folder.path().join(name)).and_then(|file| file.contents_utf8());
                file.ok_or_else(|| ReadError::MissingBesideExperiment(name.to_owned()))?.into()
            }
        };
        self.cache().insert(name.to_owned(), Arc::clone(&text));
        Ok(text)
    }

    /// The names and texts of the files that were read from the disk.
    pub(crate) fn on_disk(&self) -> Vec<(String, Arc<str>)> {
        match &self.source {
            Source::Disk(_) | Source::Within(..) => {
                self.cache().iter().map(|(name, text)| (name.clone(), Arc::clone(text))).collect()
            }
            Source::Embedded(_) | Source::Nowhere => Vec::new(),
        }
    }

    /// The path of the file of this name, whether or not the file exists: relative to the
    /// experiment, or to the working directory if the experiment is embedded.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match &self.source {
            Source::Disk(folder) | Source::Within(folder, _) => folder.join(name),
            Source::Embedded(_) | Source::Nowhere => PathBuf::from(name),
        }
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<str>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a file of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    let shown = || path.display().to_string();
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => ReadError::Missing(shown()),
        _ => ReadError::Unreadable(shown(), error),
    };
    let size = std::fs::metadata(path).map_err(unreadable)?;
    if size.is_dir() {
        return Err(ReadError::Folder(shown()));
    }
    if !size.is_file() {
        return Err(ReadError::NotRegular(shown()));
    }
    if size.len() > limit {
        return Err(ReadError::TooLarge { path: shown(), limit });
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| ReadError::NotUtf8(shown()))
}

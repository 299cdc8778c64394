//! The experiments that can be started: those of the program, and those of the user's folder.

use document::FileError;
use experiment::{Experiment, Outline};
use std::path::{Path, PathBuf};

/// The greatest number of files that are listed, and the deepest folder. Our choice.
const MAX_FILES: usize = 1_000;
const MAX_DEPTH: usize = 4;

/// A folder of experiments. They may name files in the folder and none outside.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// The path is not that of a folder.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}; name a folder with experiment files", path.display())]
pub struct FolderError {
    path: PathBuf,
    reason: String,
}

impl Folder {
    /// The folder at this path, without links.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let wrong = |reason: String| FolderError { path: path.to_owned(), reason };
        let real = path.canonicalize().map_err(|error| wrong(error.to_string()))?;
        if real.is_dir() { Ok(Self(real)) } else { Err(wrong("it is not a folder".to_owned())) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The experiments in the folder, by name: the path from the folder. Files that are not
    /// experiments are left out.
    pub(crate) fn outlines(&self) -> Vec<Outline> {
        let mut paths = Vec::new();
        collect(&self.0, 0, &mut paths);
        paths.sort();
        let outline = |path: &PathBuf| {
            let name = path.strip_prefix(&self.0).ok()?.to_str()?;
            Outline::from_text(&self.text(name)?, name).ok()
        };
        paths.iter().filter_map(outline).collect()
    }

    /// The text of a file of the folder; `None` if it is outside the folder, too large, or not
    /// text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let path = self.0.join(name).canonicalize().ok()?;
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
        let is_fit = path.starts_with(&self.0)
            && path.extension().is_some_and(|extension| extension == "toml")
            && size <= document::MAX_BYTES as u64;
        if is_fit { std::fs::read_to_string(path).ok() } else { None }
    }
}

/// Adds the files with the extension `toml` in a folder and its subfolders. Links are not followed.
fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            collect(&path, depth + 1, paths);
        } else if kind.is_file()
            && path.extension().is_some_and(|extension| extension == "toml")
            && paths.len() < MAX_FILES
        {
            paths.push(path);
        }
    }
}

/// The text of the experiment of this name.
pub(crate) fn text(folder: Option<&Folder>, name: &str) -> Option<String> {
    let own = folder.and_then(|folder| folder.text(name));
    own.or_else(|| experiment::names().iter().any(|known| known == name).then(|| built_in(name))?)
}

/// The text of a built-in experiment.
pub(crate) fn built_in(name: &str) -> Option<String> {
    Experiment::text_of(name).map(str::to_owned)
}

/// Reads a text under the name of an experiment: with the files of the program if the name is
/// built in, else with those of the folder.
pub(crate) fn parse(
    folder: Option<&Folder>,
    name: &str,
    text: &str,
) -> Result<Experiment, FileError> {
    let is_own = folder.is_some_and(|folder| folder.text(name).is_some());
    let experiment = if !is_own && Experiment::text_of(name).is_some() {
        Experiment::open(name)?.with_text(text)?
    } else {
        Experiment::parse_within(text, name, folder.map(Folder::path))?
    };
    lab::checked(experiment)
}

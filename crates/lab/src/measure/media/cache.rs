//! Files that are made once.

use super::MediaError;
use crate::measure::leftovers;
use etcetera::BaseStrategy as _;
use siphasher::sip::SipHasher13;
use std::fs::{self, Permissions};
use std::hash::Hasher as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The environment variable that names the folder of kept files.
const VARIABLE: &str = "WEIR_CACHE";
/// What the names of files begin with while they are made.
const MAKING: &str = ".making-";
/// Everyone may read them, as other files: the browser of a user without rights does.
const READABLE: u32 = 0o644;

/// A folder of kept files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's: `WEIR_CACHE`, or `weir` in the system's place for such files (XDG Base Directory Specification, `XDG_CACHE_HOME`).
    ///
    /// # Errors
    /// When the user has no home.
    pub fn of_user() -> Result<Self, MediaError> {
        if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
            return Ok(Self::at(PathBuf::from(folder)));
        }
        let base = etcetera::choose_base_strategy();
        let base = base.map_err(|error| MediaError(format!("{error}: name a folder in {VARIABLE}")))?;
        Ok(Self::at(base.cache_dir().join("weir")))
    }

    /// This folder.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file of this name, made unless a whole one is there. It appears under its name when it is complete.
    pub(super) fn get(
        &self,
        name: &str,
        is_whole: impl Fn(&Path) -> bool,
        progress: &dyn Fn(&str),
        make: impl FnOnce(&Path) -> Result<(), MediaError>,
    ) -> Result<PathBuf, MediaError> {
        let path = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone()).join(name);
        if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() > 0) && is_whole(&path) {
            return Ok(path);
        }
        let failed = |error: std::io::Error| {
            MediaError(format!("{}: {error}; {VARIABLE} may name another folder", self.folder.display()))
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        leftovers::remove(&self.folder, MAKING);
        progress(&format!("making {}", path.display()));
        let extension = Path::new(name).extension().unwrap_or_default().to_string_lossy().into_owned();
        let making = tempfile::Builder::new()
            .prefix(&leftovers::prefix(MAKING))
            .suffix(&format!(".{extension}"))
            .permissions(Permissions::from_mode(READABLE))
            .tempfile_in(&self.folder);
        let making = making.map_err(failed)?.into_temp_path();
        make(&making)?;
        if !is_whole(&making) {
            return Err(MediaError(format!(
                "{}: it was not written whole; is the disk full?",
                path.display()
            )));
        }
        making.persist(&path).map_err(|error| failed(error.error))?;
        Ok(path)
    }
}

/// A short word that differs where these do, the same on every machine (SipHash-1-3 with a zero key).
pub(super) fn fingerprint(parts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut hasher = SipHasher13::new();
    for part in parts {
        hasher.write(part.as_ref().as_bytes());
        hasher.write_u8(0);
    }
    format!("{:016x}", hasher.finish())
}

/// What tells a user's file from a later one of the same name.
pub(super) fn identity(path: &Path) -> Result<String, MediaError> {
    let found = fs::metadata(path).map_err(|error| MediaError::file(path, error))?;
    if !found.is_file() {
        return Err(MediaError::file(path, "is not a file"));
    }
    let full = path.canonicalize().map_err(|error| MediaError::file(path, error))?;
    let changed = found.modified().map_err(|error| MediaError::file(path, error))?;
    Ok(format!("{} {} {changed:?}", full.display(), found.len()))
}

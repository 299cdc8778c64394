//! A cache of files that are made once.

use super::MediaError;
use crate::measure::leftovers;
use etcetera::BaseStrategy as _;
use siphasher::sip::SipHasher13;
use std::fs::{self, File, FileTimes, Permissions};
use std::hash::Hasher as _;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The environment variable that names the cache folder.
const VARIABLE: &str = "WEIR_CACHE";
/// The start of the names of incomplete files.
const MAKING: &str = ".making-";
/// All users may read the files, because a browser may run as another user.
const READABLE: u32 = 0o644;
/// The size of the cache, bytes: nine of the largest pictures.
const MAX_CACHE_BYTES: u64 = 9 * super::MAX_PICTURE_BYTES;
/// The extensions of cached files, after their [`fingerprint`].
const EXTENSIONS: [&str; 3] = ["y4m", "wav", "webm"];

/// A folder of cached files. The files that were used longest ago are removed when it becomes too
/// large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    /// Bytes.
    max_bytes: u64,
}

/// A file in use, which no run removes from its cache.
#[derive(Clone, Debug)]
pub struct CachedFile {
    path: PathBuf,
    /// With a shared lock (flock(2)), which ends with the last copy of this value or with the
    /// process.
    file: Arc<File>,
}

impl Deref for CachedFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl PartialEq for CachedFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for CachedFile {}

impl CachedFile {
    /// Opens and locks the file at this path.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // On a file system without locks, no run can take the exclusive lock to remove the file
        // either.
        let _ = file.lock_shared();
        Ok(Self { path: path.to_owned(), file: Arc::new(file) })
    }

    /// Whether the file is not empty, and was not removed before it was locked.
    fn is_there(&self) -> bool {
        self.file
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() > 0 && found.nlink() > 0)
    }

    /// Sets the time of its last use to now.
    fn touch(&self) {
        #[expect(clippy::disallowed_methods, reason = "when a file was used is the machine's time")]
        let now = SystemTime::now();
        // The modification time stays: films identify their picture by it. The access time of
        // another user's file cannot be set.
        let _ = self.file.set_times(FileTimes::new().set_accessed(now));
    }
}

impl Cache {
    /// The user's cache: `WEIR_CACHE`, or `weir` in the system's cache folder (XDG Base Directory
    /// Specification, `XDG_CACHE_HOME`).
    ///
    /// # Errors
    /// When the user has no home directory.
    pub fn of_user() -> Result<Self, MediaError> {
        if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
            return Ok(Self::at(PathBuf::from(folder)));
        }
        let base = etcetera::choose_base_strategy();
        let base = base.map_err(|error| MediaError::NoHome(error.to_string()))?;
        Ok(Self::at(base.cache_dir().join("weir")))
    }

    /// A cache in this folder.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, max_bytes: MAX_CACHE_BYTES }
    }

    /// Returns the file with this name, and makes it if no complete one exists. It appears under
    /// its name when it is complete.
    pub(super) fn get(
        &self,
        name: &str,
        is_whole: impl Fn(&Path) -> bool,
        progress: &dyn Fn(&str),
        make: impl FnOnce(&Path) -> Result<(), MediaError>,
    ) -> Result<CachedFile, MediaError> {
        let path =
            std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone()).join(name);
        if let Ok(kept) = CachedFile::at(&path)
            && kept.is_there()
            && is_whole(&path)
        {
            kept.touch();
            return Ok(kept);
        }
        let failed = |error| MediaError::Cache { folder: self.folder.clone(), error };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let prefix = leftovers::clean_up(&self.folder, MAKING)?;
        progress(&format!("making {}", path.display()));
        let extension =
            Path::new(name).extension().unwrap_or_default().to_string_lossy().into_owned();
        let making = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(&format!(".{extension}"))
            .permissions(Permissions::from_mode(READABLE))
            .tempfile_in(&self.folder);
        let making = making.map_err(failed)?.into_temp_path();
        make(&making)?;
        if !is_whole(&making) {
            return Err(MediaError::Incomplete(path));
        }
        let kept = CachedFile::at(&making).map_err(failed)?;
        making.persist(&path).map_err(|error| failed(error.error))?;
        self.shrink();
        Ok(CachedFile { path, ..kept })
    }

    /// Removes the files that were used longest ago until the cache is small enough; files in use
    /// stay.
    fn shrink(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_kept));
        let mut files: Vec<(SystemTime, u64, PathBuf)> = ours
            .filter_map(|entry| {
                let found = entry.metadata().ok()?;
                Some((found.accessed().ok()?, found.len(), entry.path()))
            })
            .collect();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if all <= self.max_bytes {
                return;
            }
            if remove_unused(&path) {
                all -= size;
            }
        }
    }
}

/// Removes a file, unless it is in use or belongs to another user; returns whether it is removed.
fn remove_unused(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    file.try_lock().is_ok() && fs::remove_file(path).is_ok()
}

/// Whether a file name has the form of cached files.
fn is_kept(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let Some((_, key)) = stem.rsplit_once('-') else { return false };
    EXTENSIONS.contains(&extension)
        && key.len() == 16
        && key.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// A hash of these parts, the same on every machine (SipHash-1-3 with a zero key).
pub(super) fn fingerprint(parts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut hasher = SipHasher13::new();
    for part in parts {
        hasher.write(part.as_ref().as_bytes());
        hasher.write_u8(0);
    }
    format!("{:016x}", hasher.finish())
}

/// An identity that distinguishes a user's file from a later file with the same name: path, size
/// and modification time.
pub(super) fn identity(path: &Path) -> Result<String, MediaError> {
    let found = fs::metadata(path).map_err(|error| MediaError::file(path, error))?;
    if !found.is_file() {
        return Err(MediaError::NotAFile(path.to_owned()));
    }
    let full = path.canonicalize().map_err(|error| MediaError::file(path, error))?;
    let changed = found.modified().map_err(|error| MediaError::file(path, error))?;
    Ok(format!("{} {} {changed:?}", full.display(), found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A cache for two files of 100 bytes.
    fn cache(folder: &Path) -> Cache {
        Cache { max_bytes: 250, ..Cache::at(folder.to_owned()) }
    }

    fn name(number: u64) -> String {
        format!("speech-{}.wav", fingerprint([number.to_string()]))
    }

    fn get(cache: &Cache, number: u64) -> CachedFile {
        let make = |to: &Path| fs::write(to, [1; 100]).map_err(|error| MediaError::file(to, error));
        cache.get(&name(number), |_| true, &|_| (), make).unwrap()
    }

    /// Sets a file's last use to a time in seconds since 1970.
    fn age(kept: &CachedFile, seconds: u64) {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        kept.file.set_times(FileTimes::new().set_accessed(then)).unwrap();
    }

    fn numbers(cache: &Cache) -> Vec<u64> {
        (1..10).filter(|number| cache.folder.join(name(*number)).exists()).collect()
    }

    #[test]
    fn the_file_that_was_used_longest_ago_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        for other in
            ["notes.txt", "my-talk.wav", "speech-0123456789abcdeg.wav", "0123456789abcdef.wav"]
        {
            fs::write(folder.path().join(other), [0; 1000]).unwrap();
        }
        age(&get(&cache, 1), 1);
        age(&get(&cache, 2), 2);
        let made = identity(&get(&cache, 1)).unwrap();
        assert_eq!(numbers(&cache), [1, 2]);
        get(&cache, 3);
        assert_eq!(numbers(&cache), [1, 3], "the first was used again");
        assert_eq!(identity(&folder.path().join(name(1))).unwrap(), made, "and is still the same");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2 + 4, "the user's files stay");
    }

    #[test]
    fn a_file_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let first = get(&cache, 1);
        let copy = first.clone();
        age(&first, 1);
        drop(first);
        age(&get(&cache, 2), 2);
        let third = get(&cache, 3);
        assert_eq!(numbers(&cache), [1, 3]);
        let fourth = get(&cache, 4);
        assert_eq!(numbers(&cache), [1, 3, 4], "a run may need more than is kept");
        drop((copy, third, fourth));
        get(&cache, 5);
        assert_eq!(numbers(&cache).len(), 2);
    }

    #[test]
    fn a_file_that_is_removed_before_it_is_locked_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let kept = get(&cache(folder.path()), 1);
        assert!(kept.is_there());
        fs::remove_file(&*kept).unwrap();
        assert!(!kept.is_there());
    }
}

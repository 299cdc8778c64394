//! Temporary files and folders, and the removal of those that a killed process left behind.

use emulator::{EmulatorError, Owner};
use std::fs;
use std::path::Path;

/// Removes the files and folders with this prefix whose processes have ended. Returns the start of
/// the names that this process uses.
pub(super) fn clean_up(folder: &Path, prefix: &str) -> Result<String, EmulatorError> {
    let own = Owner::this()?;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .to_str()
            .and_then(|name| owner_of(name, prefix))
            .is_none_or(Owner::is_alive)
        {
            continue;
        }
        // Files that cannot be removed, for example of another user, are left.
        let _ = match entry.file_type() {
            Ok(found) if found.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
    Ok(format!("{prefix}{own}-"))
}

/// The process to which a file name belongs.
fn owner_of(name: &str, prefix: &str) -> Option<Owner> {
    Owner::parse(name.strip_prefix(prefix)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = [
            format!("{}a", clean_up(folder.path(), "prefix-").unwrap()),
            format!("other-{}-0-a", std::process::id()),
            "prefix-".to_owned(),
            "prefix-812-a".to_owned(),
        ];
        // A process number that is in use again, and one above the kernel's largest, 2^22.
        let dead =
            [format!("prefix-{}-0-a.wav", std::process::id()), format!("prefix-{}-0-b", u32::MAX)];
        for name in kept.iter().chain(&dead[..1]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir_all(folder.path().join(&dead[1]).join("c")).unwrap();
        clean_up(folder.path(), "prefix-").unwrap();
        for (name, is_kept) in
            kept.iter().map(|name| (name, true)).chain(dead.iter().map(|name| (name, false)))
        {
            assert_eq!(folder.path().join(name).exists(), is_kept, "{name}");
        }
        clean_up(Path::new("/nonexistent"), "prefix-").unwrap();
    }
}

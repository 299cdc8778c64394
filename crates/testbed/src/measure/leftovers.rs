//! Files and folders for a while, and what is left of them by a process that was killed.

use emulator::{EmulatorError, Owner};
use std::fs;
use std::path::Path;

/// Removes what processes that are gone have left of this kind in a folder; gives the beginning of
/// the names of what this process makes of it.
pub(super) fn replaced(folder: &Path, kind: &str) -> Result<String, EmulatorError> {
    let own = Owner::this()?;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(|name| maker(name, kind)).is_none_or(Owner::is_alive)
        {
            continue;
        }
        // What cannot be removed, another user's for one, is left to its owner.
        let _ = match entry.file_type() {
            Ok(found) if found.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
    Ok(format!("{kind}{own}-"))
}

/// The process whose this name is.
fn maker(name: &str, kind: &str) -> Option<Owner> {
    Owner::parse(name.strip_prefix(kind)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = [
            format!("{}a", replaced(folder.path(), "kind-").unwrap()),
            format!("other-{}-0-a", std::process::id()),
            "kind-".to_owned(),
            "kind-812-a".to_owned(),
        ];
        // A number that is used again, and one above the kernel's largest, 2^22.
        let dead =
            [format!("kind-{}-0-a.wav", std::process::id()), format!("kind-{}-0-b", u32::MAX)];
        for name in kept.iter().chain(&dead[..1]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir_all(folder.path().join(&dead[1]).join("c")).unwrap();
        replaced(folder.path(), "kind-").unwrap();
        for (name, is_kept) in
            kept.iter().map(|name| (name, true)).chain(dead.iter().map(|name| (name, false)))
        {
            assert_eq!(folder.path().join(name).exists(), is_kept, "{name}");
        }
        replaced(Path::new("/nonexistent"), "kind-").unwrap();
    }
}

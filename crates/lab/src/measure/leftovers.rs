//! Files and folders for a while, and what is left of them by a process that was killed.

use std::fs;
use std::path::Path;

/// The beginning of the names of what this process makes for a while, by which others know whose they are.
pub(super) fn prefix(kind: &str) -> String {
    format!("{kind}{}-", std::process::id())
}

/// Removes what processes that are gone have left of this kind in a folder.
pub(super) fn remove(folder: &Path, kind: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_str().and_then(|name| maker(name, kind)).is_some_and(is_gone) {
            continue;
        }
        // What cannot be removed, another user's for one, is left to its owner.
        let _ = match entry.file_type() {
            Ok(found) if found.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
}

/// The process whose this name is.
fn maker(name: &str, kind: &str) -> Option<u32> {
    name.strip_prefix(kind)?.split_once('-')?.0.parse().ok()
}

fn is_gone(pid: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        // Above the kernel's largest number of a process, 2^22.
        let dead = u32::MAX;
        let own = format!("{}a", prefix("kind-"));
        for file in
            [own.as_str(), &format!("kind-{dead}-a.wav"), &format!("other-{dead}-a"), "kind-a-b", "kind-"]
        {
            fs::write(folder.path().join(file), "").unwrap();
        }
        fs::create_dir_all(folder.path().join(format!("kind-{dead}-b/c"))).unwrap();
        remove(folder.path(), "kind-");
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
        left.sort();
        let mut wanted = [own, "kind-".to_owned(), "kind-a-b".to_owned(), format!("other-{dead}-a")];
        wanted.sort();
        assert_eq!(left, wanted);
        remove(Path::new("/nonexistent"), "kind-");
    }
}

//! Locks of cubecl's cache that killed processes left.
//!
//! cubecl 0.10 locks a file of kernels by creating another one beside it, with the time, and
//! deletes a lock of more than 30 s ago (`cubecl-common`, `cache_file.rs`). An empty lock, and one
//! of a time to come because the clock was set back, would stay: every process would wait 30 s for
//! it and then compile without a cache.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};
use testgen_types::bounded_file::{limit, read_bytes};

/// How long a lock is observed.
// A process holds it while it reads or writes the file, for some milliseconds.
const OBSERVED: Duration = Duration::from_secs(2);

/// Levels of folders below the caches' folder in which cubecl has files.
const DEPTH: usize = 8;

/// Deletes the locks in `folder` and below that do not change for a while, whatever the clock
/// shows. Waits only if there are locks.
pub(crate) fn remove_abandoned(folder: &Path) {
    remove_unchanged(folder, || thread::sleep(OBSERVED));
}

/// `observe` waits while processes use their locks.
fn remove_unchanged(folder: &Path, observe: impl FnOnce()) {
    let before = locks(folder, DEPTH);
    if before.is_empty() {
        return;
    }
    observe();
    for (path, content) in locks(folder, DEPTH) {
        if before.get(&path) == Some(&content) {
            // Another process may have deleted it.
            let _ = fs::remove_file(path);
        }
    }
}

/// The locks with their contents, which differ for every use.
fn locks(folder: &Path, depth: usize) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => found.extend(locks(&path, depth - 1)),
            Ok(kind)
                if kind.is_file()
                    && path
                        .extension()
                        .is_some_and(|extension| extension == "lock") =>
            {
                if let Ok(content) = read_bytes(&path, limit::SOURCE) {
                    found.insert(path, content);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_does_not_change_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("hip/0.10.0/gfx90a");
        fs::create_dir_all(&below).unwrap();
        let [empty, future, used, kernels] = [
            "a.json.log.lock",
            "b.json.log.lock",
            "c.json.log.lock",
            "a.json.log",
        ]
        .map(|name| below.join(name));
        fs::write(&empty, "").unwrap();
        fs::write(
            &future,
            r#"{"secs_since_epoch":9000000000,"nanos_since_epoch":0}"#,
        )
        .unwrap();
        fs::write(&used, "first").unwrap();
        fs::write(&kernels, "{}\n").unwrap();
        remove_unchanged(folder.path(), || fs::write(&used, "second").unwrap());
        assert!(!empty.exists() && !future.exists());
        assert!(used.exists() && kernels.exists());
    }
}

//! Choices of burn's autotuner to begin with: `TESTGEN_AUTOTUNE` names a folder that has the shape of `autotune/` in a cache.
//!
//! cubecl reads them when it first multiplies, checks each against its candidates, and measures only what is not among
//! them. They are copied to a folder of the cache that belongs to just these choices: what another run chose before,
//! without them or with older ones, has no say.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The variable that names the folder.
const VARIABLE: &str = "TESTGEN_AUTOTUNE";

/// Copies the choices that the environment names beside `autotune`. Gives the folder to use and what to tell about it, or
/// nothing where none are named.
pub(super) fn begin(autotune: &Path) -> Option<(PathBuf, String)> {
    let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
    let folder = Path::new(&folder);
    Some(match beside(folder, autotune) {
        Ok(beside) => (beside, format!("the autotuner begins with the choices in `{}`", folder.display())),
        Err(error) => {
            let told = format!("the choices in {VARIABLE}=`{}` are not used: {error}", folder.display());
            (autotune.to_path_buf(), told)
        }
    })
}

/// A copy of `folder` whose name is that of `autotune` and what is in the folder.
fn beside(folder: &Path, autotune: &Path) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    digest(folder, &mut hasher)?;
    let name = autotune.file_name().unwrap_or_default();
    let beside = autotune.with_file_name(format!("{}-{:016x}", name.display(), hasher.finish()));
    copy(folder, &beside)?;
    Ok(beside)
}

/// Takes in the name and bytes of every file below `folder`, in order.
fn digest(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut entries = entries?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        entry.file_name().hash(hasher);
        match entry.file_type()?.is_dir() {
            true => digest(&entry.path(), hasher)?,
            false => fs::read(entry.path())?.hash(hasher),
        }
    }
    Ok(())
}

/// Copies every file below `from` that is not below `to`.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if !target.exists() {
            // Whole or not at all: another process may look at the same time.
            let part = to.join(format!(".{}-{}", entry.file_name().display(), std::process::id()));
            fs::copy(entry.path(), &part)?;
            fs::rename(&part, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{beside, copy};
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn choices_are_copied_but_not_over_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (path, text) in [("from/a/b.log", "kept"), ("from/a/c.log", "new"), ("to/a/b.log", "old")] {
            write(folder.path(), path, text);
        }
        copy(&from, &to).expect("it is copied");
        let read = |name: &str| fs::read_to_string(to.join(name)).expect("it is there");
        assert_eq!((read("a/b.log"), read("a/c.log")), ("old".to_owned(), "new".to_owned()));
        assert_eq!(fs::read_dir(to.join("a")).expect("it is there").count(), 2);
        assert!(copy(&folder.path().join("none"), &to).is_err());
    }

    #[test]
    fn other_choices_have_another_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, autotune) = (folder.path().join("from"), folder.path().join("autotune/gfx1100-6.4"));
        write(&from, "a/b.log", "first");
        let first = beside(&from, &autotune).expect("it is copied");
        write(&first, "a/b.log", "first, and one more");
        assert_eq!(beside(&from, &autotune).expect("it is there"), first);
        assert_eq!(fs::read_to_string(first.join("a/b.log")).expect("it is there"), "first, and one more");
        for (path, text) in [("a/b.log", "second"), ("a/c.log", "first")] {
            write(&from, path, text);
            let other = beside(&from, &autotune).expect("it is copied");
            assert!(other != first && other.starts_with(folder.path().join("autotune")), "{other:?}");
            assert_eq!(fs::read_to_string(other.join(path)).expect("it is there"), text);
        }
        assert!(beside(&folder.path().join("none"), &autotune).is_err());
    }
}

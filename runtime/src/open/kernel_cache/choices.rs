//! Choices of burn's autotuner to begin with: `TESTGEN_AUTOTUNE` names a folder that has the shape of `autotune/` in a cache.
//!
//! cubecl reads them when it first multiplies, checks each against its candidates, and measures only what is not among
//! them. They are copied to a folder of the cache that belongs to just these choices: what another run chose before,
//! without them or with older ones, has no say.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The variable that names the folder.
const VARIABLE: &str = "TESTGEN_AUTOTUNE";

/// A folder with choices that can be read.
#[derive(Debug, Default)]
pub(super) struct Choices {
    folder: PathBuf,
    /// Stands for what is in it.
    pub(super) digest: String,
}

impl Choices {
    /// Those that the environment names; none where it names none, and why there are none where they cannot be read.
    pub(super) fn named() -> Result<Option<Self>, String> {
        let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        let read = folder.map(|folder| Self::read(Path::new(&folder)).map_err(|error| (folder, error)));
        read.transpose().map_err(|(folder, error)| {
            format!("the choices in {VARIABLE}=`{}` are not used: {error}", folder.display())
        })
    }

    fn read(folder: &Path) -> io::Result<Self> {
        let mut hasher = DefaultHasher::new();
        digest(folder, &mut hasher)?;
        Ok(Self { folder: folder.to_path_buf(), digest: format!("{:016x}", hasher.finish()) })
    }

    /// Copies them to `autotune`, where what is there stays.
    pub(super) fn begin(&self, autotune: &Path) -> io::Result<()> {
        copy(&self.folder, autotune)
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the choices in `{}`", self.folder.display())
    }
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
    use super::{Choices, copy};
    use std::collections::BTreeSet;
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
    fn other_choices_have_another_digest() {
        let folder = tempfile::tempdir().expect("a folder");
        let digest = || Choices::read(folder.path()).expect("it can be read").digest;
        let mut known = BTreeSet::from([digest()]);
        for (path, text) in [("a/b.log", "first"), ("a/b.log", "second"), ("a/c.log", "second")] {
            write(folder.path(), path, text);
            assert_eq!(digest(), digest());
            assert!(known.insert(digest()), "{path} {text}");
        }
        assert!(Choices::read(&folder.path().join("none")).is_err());
    }
}

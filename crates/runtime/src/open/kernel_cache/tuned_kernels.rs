//! Tuned kernels to start with: `TESTGEN_AUTOTUNE` names a folder with choices of burn's autotuner, in the layout of
//! `autotune/` in a cache.
//!
//! cubecl reads the choices before its first product, checks each against its candidates, and measures only products
//! without a choice. They are copied to a folder of the cache that is specific to these choices, so that earlier runs
//! with other choices have no effect.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use testgen_types::bounded_file::{limit, read_bytes};

/// The variable that names the folder.
const VARIABLE: &str = "TESTGEN_AUTOTUNE";

/// A readable folder with choices of the autotuner.
#[derive(Debug, Default)]
pub(super) struct TunedKernels {
    folder: PathBuf,
    /// A hash of the folder's content.
    pub(super) digest: String,
}

impl TunedKernels {
    /// The folder that the environment names, if any; an error message when it cannot be read.
    pub(super) fn from_environment() -> Result<Option<Self>, String> {
        let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        let read = folder.map(|folder| Self::read(Path::new(&folder)).map_err(|error| (folder, error)));
        read.transpose().map_err(|(folder, error)| {
            format!("the tuned kernels in {VARIABLE}=`{}` are not used: {error}", folder.display())
        })
    }

    fn read(folder: &Path) -> io::Result<Self> {
        let mut hasher = DefaultHasher::new();
        digest(folder, &mut hasher)?;
        Ok(Self { folder: folder.to_path_buf(), digest: format!("{:016x}", hasher.finish()) })
    }

    /// Copies them to `autotune`, without overwriting existing files.
    pub(super) fn copy_to(&self, autotune: &Path) -> io::Result<()> {
        copy(&self.folder, autotune)
    }
}

impl fmt::Display for TunedKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tuned kernels in `{}`", self.folder.display())
    }
}

/// Hashes the name and bytes of every file in `folder` and its subfolders, in order.
fn digest(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut entries = entries?;
    // `read_dir` has no order, and the digest has to be the same in every run.
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        entry.file_name().hash(hasher);
        match entry.file_type()?.is_dir() {
            true => digest(&entry.path(), hasher)?,
            false => read_bytes(&entry.path(), limit::KERNEL).map_err(io::Error::other)?.hash(hasher),
        }
    }
    Ok(())
}

/// Copies every file in `from` and its subfolders that does not exist in `to`.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if !target.exists() {
            // Copied under a temporary name, then renamed: another process must not read a part of it.
            let part = to.join(format!(".{}-{}", entry.file_name().display(), std::process::id()));
            fs::copy(entry.path(), &part)?;
            fs::rename(&part, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{TunedKernels, copy};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn copying_does_not_overwrite() {
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
    fn the_digest_changes_with_the_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let digest = || TunedKernels::read(folder.path()).expect("it can be read").digest;
        let mut known = BTreeSet::from([digest()]);
        for (path, text) in [("a/b.log", "first"), ("a/b.log", "second"), ("a/c.log", "second")] {
            write(folder.path(), path, text);
            assert_eq!(digest(), digest());
            assert!(known.insert(digest()), "{path} {text}");
        }
        assert!(TunedKernels::read(&folder.path().join("none")).is_err());
    }
}

//! Choices of burn's autotuner to begin with: `TESTGEN_AUTOTUNE` names a folder that has the shape of `autotune/` in a cache.
//!
//! cubecl reads them when it first multiplies, checks each against its candidates, and measures only what is not among
//! them. They are copied, and never over choices that the cache has.

use std::fs;
use std::io;
use std::path::Path;

/// The variable that names the folder.
const VARIABLE: &str = "TESTGEN_AUTOTUNE";

/// Copies the choices that the environment names into `autotune`; tells about it, or nothing where none are named.
pub(super) fn begin(autotune: &Path) -> Option<String> {
    let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
    let folder = Path::new(&folder);
    Some(match copy(folder, autotune) {
        Ok(()) => format!("the autotuner begins with the choices in `{}`", folder.display()),
        Err(error) => format!("the choices in {VARIABLE}=`{}` are not used: {error}", folder.display()),
    })
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
    use super::copy;
    use std::fs;

    #[test]
    fn choices_are_copied_but_not_over_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (path, text) in [("from/a/b.log", "kept"), ("from/a/c.log", "new"), ("to/a/b.log", "old")] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        copy(&from, &to).expect("it is copied");
        let read = |name: &str| fs::read_to_string(to.join(name)).expect("it is there");
        assert_eq!((read("a/b.log"), read("a/c.log")), ("old".to_owned(), "new".to_owned()));
        assert_eq!(fs::read_dir(to.join("a")).expect("it is there").count(), 2);
        assert!(copy(&folder.path().join("none"), &to).is_err());
    }
}

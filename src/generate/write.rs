//! The only code that changes files: it writes temporary files first and then renames them, so that a full disk leaves
//! the old suite.

use super::{Change, Changes, GenerateError};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

impl Changes {
    /// Writes files that differ and deletes those left over; files that are up to date are not touched.
    pub fn write(&self) -> Result<(), GenerateError> {
        let out = self.plan.layout.out();
        let mut prepared = Prepared::default();
        for file in self.files.iter().filter(|file| file.change != Change::Delete) {
            let content = self.plan.files.get(&file.path).map(Vec::as_slice).unwrap_or_default();
            prepared.add(&out.join(&file.path), content)?;
        }
        prepared.rename_all()?;
        // Deleted last: by now no file of the suite names them, so a failure in between leaves a suite that compiles.
        for file in self.files.iter().filter(|file| file.change == Change::Delete) {
            let path = out.join(&file.path);
            fs::remove_file(&path).map_err(|source| GenerateError::Disk {
                action: "delete",
                path: path.clone(),
                source,
            })?;
            remove_if_empty(out, &path);
        }
        Ok(())
    }
}

/// Writes one file completely, or leaves it unchanged.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), GenerateError> {
    let mut prepared = Prepared::default();
    prepared.add(path, content)?;
    prepared.rename_all()
}

/// Temporary files with their final names. Dropping it deletes those that have not been renamed.
#[derive(Default)]
struct Prepared {
    files: Vec<(PathBuf, PathBuf)>,
}

impl Prepared {
    fn add(&mut self, target: &Path, content: &[u8]) -> Result<(), GenerateError> {
        let failed = |source: io::Error| GenerateError::Disk { action: "write", path: target.to_owned(), source };
        let directory = target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(failed)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temporary = directory.join(format!(".{name}.{}.tmp", std::process::id()));
        // A file of that name is left from a process that crashed; a link of that name must not be followed.
        let _ = fs::remove_file(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary).map_err(failed)?;
        self.files.push((temporary, target.to_owned()));
        file.write_all(content).map_err(failed)
    }

    fn rename_all(mut self) -> Result<(), GenerateError> {
        while let Some((temporary, target)) = self.files.pop() {
            if let Err(source) = fs::rename(&temporary, &target) {
                self.files.push((temporary, target.clone()));
                return Err(GenerateError::Disk { action: "write", path: target, source });
            }
        }
        Ok(())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        for (temporary, _) in &self.files {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Removes the directories above a deleted file that are empty now.
fn remove_if_empty(out: &Path, path: &Path) {
    for directory in path.ancestors().skip(1).take_while(|directory| *directory != out) {
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

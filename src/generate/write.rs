//! The only code that changes a suite: it writes all files to a temporary directory first and then
//! renames them, so that a full disk leaves the old suite.

use super::{ChangeKind, Changes, FileChange, GenerateError, SpecFilter, plan};
use crate::settings::Settings;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};
use testgen_base::{
    atomic_file::{self, Temporary},
    cli_error::Error,
};

/// Plans the suite and writes what differs, while no other process writes the same suite. Returns
/// the changes that were made.
///
/// # Errors
///
/// As [`plan()`] and [`Changes::write`].
pub fn write_suite(
    settings: &Settings,
    filter: &SpecFilter,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Changes, Error> {
    // Before planning, because a plan depends on what another process has written.
    let mut lock = SuiteLock::of_existing(&settings.out);
    let mut changes = plan(settings, filter, progress)?.compare()?;
    if lock.is_none() {
        // Invalid specs must not create the directory, so it is created after they were read.
        let out = changes.plan.layout.out();
        fs::create_dir_all(out).map_err(failed("write", out))?;
        lock = SuiteLock::of_existing(out);
        changes = plan(settings, filter, progress)?.compare()?;
    }
    changes.write()?;
    // Held until everything is written, so that no other process plans in between.
    drop(lock);
    Ok(changes)
}

impl Changes {
    /// Writes files that differ and deletes those left over; files that are up to date are not
    /// touched.
    pub fn write(&self) -> Result<(), GenerateError> {
        // Otherwise the temporary directory alone would change a suite that is up to date.
        if self.files.is_empty() {
            return Ok(());
        }
        let out = self.plan.layout.out();
        let prepared = Temporary::directory(out).map_err(failed("write", out))?;
        for file in self.written() {
            let content = self
                .plan
                .files
                .get(&file.path)
                .map(Vec::as_slice)
                .unwrap_or_default();
            prepare(prepared.path(), &file.path, content)
                .map_err(failed("write", &out.join(&file.path)))?;
        }
        for file in self.written() {
            let target = out.join(&file.path);
            let directory = target.parent().unwrap_or(out);
            let renamed = fs::create_dir_all(directory)
                .and_then(|()| fs::rename(prepared.path().join(&file.path), &target));
            renamed.map_err(failed("write", &target))?;
        }
        // Deleted last: by now no file of the suite names them, so a failure in between leaves a
        // suite that compiles.
        for file in self
            .files
            .iter()
            .filter(|file| file.change == ChangeKind::Delete)
        {
            let path = out.join(&file.path);
            // A file that is already gone is as it should be.
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("delete", &path)(source));
                }
                _ => remove_if_empty(out, &path),
            }
        }
        Ok(())
    }

    /// The files that are written.
    fn written(&self) -> impl Iterator<Item = &FileChange> {
        self.files
            .iter()
            .filter(|file| file.change != ChangeKind::Delete)
    }
}

fn prepare(directory: &Path, path: &str, content: &[u8]) -> io::Result<()> {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().unwrap_or(directory))?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?
        .write_all(content)
}

/// Writes one file completely, or leaves it unchanged.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), GenerateError> {
    atomic_file::replace(path, content).map_err(failed("write", path))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GenerateError {
    let path: PathBuf = path.to_owned();
    move |source| GenerateError::Disk {
        action,
        path,
        source,
    }
}

/// A lock on the directory of a suite. The system releases it when the process ends.
struct SuiteLock {
    _directory: File,
}

impl SuiteLock {
    /// Waits for other processes that write the suite. None if there is no directory.
    fn of_existing(out: &Path) -> Option<Self> {
        let directory = File::open(out).ok()?;
        // Where locks are not supported, each file is still the old or the new one, but files of
        // two processes may be mixed.
        let _ = directory.lock();
        Some(Self {
            _directory: directory,
        })
    }
}

/// Removes the directories above a deleted file that are empty now.
fn remove_if_empty(out: &Path, path: &Path) {
    for directory in path
        .ancestors()
        .skip(1)
        .take_while(|directory| *directory != out)
    {
        // A directory that still has files cannot be removed, nor can the ones above it.
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

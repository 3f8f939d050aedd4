//! Files that are written completely or not at all: also when the process is killed, the disk is
//! full, or another process writes the same file.
//!
//! The content goes into a temporary file in the directory of the target, which is renamed when it
//! is complete. It is locked while its process runs: the next write in that directory deletes the
//! unlocked ones, which killed processes left. After a power cut, the guarantees of the file system
//! for a rename apply.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Names of temporary files and directories begin and end like this.
const PREFIX: &str = ".testgen-";
const SUFFIX: &str = ".tmp";

/// Links that are followed to find the file to replace, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Replaces the file `path` by one with `content`, and creates the directories above it. A link
/// stays, and the file that it points to is replaced. A pipe or a device, such as `/dev/stdout`, is
/// written to.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    if is_special(path) {
        return OpenOptions::new()
            .write(true)
            .open(path)?
            .write_all(content);
    }
    let mut file = TemporaryFile::new(path)?;
    file.write_all(content)?;
    file.persist()
}

/// Creates the file `path` with `content`, and the directories above it. An existing file, and one
/// that another process creates meanwhile, is [`io::ErrorKind::AlreadyExists`].
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    // A dangling link counts, too: its target would be created in another directory.
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut file = TemporaryFile::new(path)?;
    file.write_all(content)?;
    match fs::hard_link(&file.entry.path, &file.target) {
        // Not every file system has hard links; without them two processes at the same moment are
        // not detected.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => file.persist(),
        result => result,
    }
}

/// A file that becomes the target when it is complete. Dropping it deletes it.
#[derive(Debug)]
pub struct TemporaryFile {
    entry: Temporary,
    target: PathBuf,
}

impl TemporaryFile {
    /// An empty file in the directory of `target`, with the mode of the existing target.
    pub fn new(target: &Path) -> io::Result<Self> {
        let target = resolve(target)?;
        let existing = fs::metadata(&target).ok();
        match &existing {
            Some(existing) if existing.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Some(existing) if !existing.is_file() => {
                return Err(io::Error::other("this is not a regular file"));
            }
            Some(_) | None => {}
        }
        let entry = Temporary::new(directory_of(&target), |path| {
            OpenOptions::new()
                .read(true)
                // A child process may write as well, and neither overwrites the bytes of the other.
                .append(true)
                .create_new(true)
                .open(path)
        })?;
        if let Some(existing) = existing {
            // Not permitted on every file system; the content matters more.
            let _ = entry.handle.set_permissions(existing.permissions());
        }
        Ok(Self { entry, target })
    }

    /// The path while it is incomplete.
    pub fn path(&self) -> &Path {
        &self.entry.path
    }

    /// The open file, for a child process.
    pub fn handle(&self) -> &File {
        &self.entry.handle
    }

    /// Renames it to its target.
    pub fn persist(self) -> io::Result<()> {
        fs::rename(&self.entry.path, &self.target)
    }
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.entry.handle.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.entry.handle.flush()
    }
}

/// A locked temporary file or directory. Dropping it deletes it.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    handle: File,
}

impl Temporary {
    /// A new directory in `directory`, for several files that are renamed together.
    pub fn directory(directory: &Path) -> io::Result<Self> {
        Self::new(directory, |path| {
            fs::create_dir(path).and_then(|()| File::open(path))
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn new(directory: &Path, open: impl Fn(&Path) -> io::Result<File>) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(directory)?;
        delete_abandoned(directory);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{PREFIX}{}.{count}{SUFFIX}", std::process::id()));
            let handle = match open(&path) {
                // A process with the same id in another container, or the next one to be deleted.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
                    ) =>
                {
                    directory.metadata()?;
                    continue;
                }
                result => result?,
            };
            // Where locks are not supported, no other process obtains one either, and nothing is
            // deleted.
            let _ = handle.lock();
            let created = Self { path, handle };
            // Another process may have deleted it between its creation and the lock.
            if is_same(&created.path, &created.handle) {
                return Ok(created);
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename, the path is free, or belongs to another process whose file differs.
        if is_same(&self.path, &self.handle) {
            delete(&self.path);
        }
    }
}

/// Deletes the temporary files and directories of processes that no longer run.
fn delete_abandoned(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for path in entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| is_temporary(path))
    {
        // Opening a pipe with such a name would wait for a writer.
        let is_ours = path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_file() || metadata.is_dir());
        let Some(handle) = is_ours.then(|| File::open(&path).ok()).flatten() else {
            continue;
        };
        match handle.try_lock() {
            // After a rename by its process, the path is free or another file.
            Ok(()) if is_same(&path, &handle) => delete(&path),
            Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

fn delete(path: &Path) {
    // An error is ignored: `delete_abandoned` tries again, and no result depends on what stays.
    let _ = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
}

fn is_same(path: &Path, handle: &File) -> bool {
    let (Ok(there), Ok(here)) = (path.symlink_metadata(), handle.metadata()) else {
        return false;
    };
    (there.dev(), there.ino()) == (here.dev(), here.ino())
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The path that a link points to, also if that does not exist.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = directory_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;

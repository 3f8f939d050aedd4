//! Reading files with a limit: a regular file of at most so many bytes, or an error that names the
//! file and the problem.
//!
//! Owns how files that others wrote are opened and read. Nothing waits for the writer of a FIFO,
//! and nothing reads a device or a file that is too large: its size is checked before the first
//! byte is read. Does not own what the bytes mean.

use std::{
    error::Error,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The limits of the files that testgen and its suites read, in bytes. Each is several times the
/// largest file of its kind that public checkpoints have.
pub mod limit {
    const MIB: u64 = 1 << 20;
    /// `config.json`, `tokenizer_config.json`, processor configurations; one with 22,000 labels has
    /// 3 MB.
    pub const CONFIG: u64 = 8 * MIB;
    /// `tokenizer.json` and vocabularies; a vocabulary of 262,000 takes 33 MB.
    pub const TOKENIZER: u64 = 256 * MIB;
    /// The index of a sharded checkpoint, by the names of all tensors; one of 90,000 tensors has 9
    /// MB.
    pub const SHARD_INDEX: u64 = 64 * MIB;
    /// `golden.safetensors`.
    pub const GOLDEN: u64 = 1024 * MIB;
    /// The passages of a retriever and their embeddings.
    pub const PASSAGES: u64 = 4096 * MIB;
    /// `answers.json`.
    pub const ANSWERS: u64 = 64 * MIB;
    /// An image or an audio recording of a request.
    pub const MEDIA: u64 = 256 * MIB;
    /// A file of the system: in `/proc`, in `/sys`, of an installed driver.
    pub const SYSTEM: u64 = 64 * MIB;
    /// A specification, a settings file, a template, a source file.
    pub const SOURCE: u64 = 8 * MIB;
    /// A report in JSON lines.
    pub const REPORT: u64 = 1024 * MIB;
}

/// The bytes of the regular file at `path`, at most `limit`.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = open(path)?;
    let size = file
        .metadata()
        .map_err(|error| failed(FileProblem::System(error), path))?
        .len();
    read_limited(file, size, limit).map_err(|problem| failed(problem, path))
}

/// The bytes of `source`, which has `size` bytes unless it grows.
fn read_limited(source: impl Read, size: u64, limit: u64) -> Result<Vec<u8>, FileProblem> {
    if size > limit {
        return Err(FileProblem::TooLarge {
            size: Some(size),
            limit,
        });
    }
    // Within the limit: no file causes a larger allocation.
    // The size is a hint: files of `/proc` report 0 bytes.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // One byte more than the limit shows that the file grew after its size was read.
    source
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(FileProblem::System)?;
    if bytes.len() as u64 > limit {
        return Err(FileProblem::TooLarge { size: None, limit });
    }
    Ok(bytes)
}

/// As [`read_bytes`], for a file in UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, FileError> {
    String::from_utf8(read_bytes(path, limit)?).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        FileError {
            path: path.to_owned(),
            problem: FileProblem::NotUtf8 { position },
        }
    })
}

/// Opens a regular file for reading, of any size: for files that are mapped or of which only a part
/// is read.
pub fn open(path: &Path) -> Result<File, FileError> {
    // Before opening: opening some devices has an effect.
    let metadata = fs::metadata(path).map_err(|error| failed(not_there(path, error), path))?;
    check_kind(&metadata).map_err(|problem| failed(problem, path))?;
    let mut options = OpenOptions::new();
    options.read(true);
    // If a FIFO has replaced the file, opening it would wait for a writer. On a regular file the
    // flag has no effect.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options
        .open(path)
        .map_err(|error| failed(FileProblem::System(error), path))?;
    // Again: the file may have been replaced in between; for that case, opening did not wait.
    let metadata = file
        .metadata()
        .map_err(|error| failed(FileProblem::System(error), path))?;
    check_kind(&metadata).map_err(|problem| failed(problem, path))?;
    Ok(file)
}

/// A file that cannot be read.
#[derive(Debug)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Why, and what to do.
    pub problem: FileProblem,
}

/// Why a file cannot be read. Its text does not name the file.
#[derive(Debug)]
pub enum FileProblem {
    /// There is nothing at this path.
    Missing,
    /// A symbolic link to `target`, which does not exist.
    DanglingLink {
        /// The target of the link.
        target: PathBuf,
    },
    /// A directory, a FIFO, a socket or a device.
    NotRegular {
        /// With its article, as `a directory`.
        kind: &'static str,
    },
    /// More bytes than any file of this kind has.
    TooLarge {
        /// Its size, or `None` if it grew while it was read.
        size: Option<u64>,
        /// The limit.
        limit: u64,
    },
    /// Bytes that are not UTF-8 in a text.
    NotUtf8 {
        /// The position of the first one.
        position: usize,
    },
    /// The system's error.
    System(io::Error),
}

impl FileError {
    /// Whether there is nothing at the path; a dangling link is something.
    pub fn is_missing(&self) -> bool {
        matches!(self.problem, FileProblem::Missing)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", self.path.display(), self.problem)
    }
}

impl Error for FileError {}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "it does not exist"),
            Self::DanglingLink { target } => write!(
                f,
                "it is a link to `{}`, which does not exist; copy the file there or correct the link",
                target.display()
            ),
            Self::NotRegular { kind } => write!(f, "it is {kind}; put a regular file in its place"),
            Self::TooLarge {
                size: Some(size),
                limit,
            } => {
                write!(
                    f,
                    "it has {size} bytes, and at most {limit} are read; check that it is the right file"
                )
            }
            Self::TooLarge { size: None, limit } => {
                write!(
                    f,
                    "it grows while it is read, beyond {limit} bytes; wait until it is complete"
                )
            }
            Self::NotUtf8 { position } => {
                write!(f, "byte {position} is not UTF-8; save it as UTF-8")
            }
            Self::System(error) => error.fmt(f),
        }
    }
}

/// Distinguishes a link without a target from no file at all.
fn not_there(path: &Path, error: io::Error) -> FileProblem {
    if error.kind() != io::ErrorKind::NotFound {
        return FileProblem::System(error);
    }
    match fs::read_link(path) {
        Ok(target) => FileProblem::DanglingLink { target },
        Err(_) => FileProblem::Missing,
    }
}

fn check_kind(metadata: &fs::Metadata) -> Result<(), FileProblem> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(FileProblem::NotRegular {
        kind: if metadata.is_dir() {
            "a directory"
        } else {
            special_kind(metadata)
        },
    })
}

#[cfg(unix)]
fn special_kind(metadata: &fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match metadata.file_type() {
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "a special file",
    }
}

#[cfg(not(unix))]
fn special_kind(_: &fs::Metadata) -> &'static str {
    "a special file"
}

#[cfg(all(test, unix))]
mod tests;

fn failed(problem: FileProblem, path: &Path) -> FileError {
    FileError {
        path: path.to_owned(),
        problem,
    }
}

//! The C++ compiler and the cache of its output.
//!
//! A key is a hash of the source, the headers, the compiler and its flags. Several processes share
//! a folder, so every file is written under a temporary name and then renamed.

use super::error::CompileError;
use crate::configuration::Configuration;
use crate::statistics::Statistics;
use crate::toolchain::{HEADERS, fingerprint, flags};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The file stem of a kernel in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelKey(String);

impl KernelKey {
    pub(super) fn new(normalised: &str, configuration: &Configuration) -> Self {
        let mut hasher = DefaultHasher::new();
        (
            normalised,
            HEADERS,
            &configuration.compiler,
            flags(normalised, &configuration.faults),
        )
            .hash(&mut hasher);
        Self(format!("{:016x}", hasher.finish()))
    }
}

/// The path of the shared object of `text`, compiled now unless it is cached.
pub(super) fn object(
    key: &KernelKey,
    text: &str,
    configuration: &Configuration,
    statistics: &Statistics,
) -> Result<PathBuf, CompileError> {
    // Caches keep this path, and another process can have another working directory.
    let folder =
        std::path::absolute(&configuration.cache).unwrap_or_else(|_| configuration.cache.clone());
    let object = folder.join(format!("{}.so", key.0));
    if object.exists() {
        statistics.cache_hit();
        return Ok(object);
    }
    let headers = write_headers(&folder)?;
    let source = folder.join(format!("{}.cpp", key.0));
    write(&source, text.as_bytes())?;
    let started = Instant::now();
    let output = temporary(&object);
    compile(&source, text, &output, &headers, configuration)?;
    statistics.compiled(started.elapsed());
    std::fs::rename(&output, &object).map_err(|source| CompileError::Cache {
        path: object.clone(),
        source,
    })?;
    Ok(object)
}

/// Writes the kernel's original source, for checks with other compilers.
pub(super) fn dump(folder: &Path, key: &KernelKey, source: &str) -> Result<(), CompileError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| CompileError::Cache {
            path: folder.to_path_buf(),
            source,
        })
        .and_then(|()| write(&folder.join(format!("{}.hip", key.0)), source.as_bytes()))
}

fn compile(
    source: &Path,
    text: &str,
    output: &Path,
    headers: &Path,
    configuration: &Configuration,
) -> Result<(), CompileError> {
    let compiler = &configuration.compiler;
    let mut command = Command::new(compiler);
    command
        .args(flags(text, &configuration.faults))
        .arg("-I")
        .arg(headers)
        .arg(source)
        .arg("-o")
        .arg(output);
    // `-nodefaultlibs` leaves them out, and a linker needs them after the code that uses them.
    command.args(["-lm", "-lc", "-lgcc"]);
    let finished = command.output();
    let finished = finished.map_err(|source| CompileError::NoCompiler {
        compiler: compiler.clone(),
        source,
    })?;
    if finished.status.success() {
        return Ok(());
    }
    // An error is ignored: the compiler may have written no file before it failed.
    let _ = std::fs::remove_file(output);
    Err(CompileError::Rejected(
        String::from_utf8_lossy(&finished.stderr).into_owned(),
    ))
}

/// Writes the headers to a folder of this version: other versions of the simulator share the cache.
fn write_headers(folder: &Path) -> Result<PathBuf, CompileError> {
    let headers = folder.join(format!("include-{:016x}", fingerprint()));
    let include = headers.join("hip");
    std::fs::create_dir_all(&include).map_err(|source| CompileError::Cache {
        path: include.clone(),
        source,
    })?;
    for (name, text) in HEADERS {
        let path = include.join(name);
        if !path.exists() {
            write(&path, text.as_bytes())?;
        }
    }
    Ok(headers)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), CompileError> {
    let temporary = temporary(path);
    let written =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| CompileError::Cache {
        path: path.to_path_buf(),
        source,
    })
}

/// A name that no other process or thread uses.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("{}-{count}.tmp", std::process::id()))
}

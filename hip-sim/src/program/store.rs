//! Running the C++ compiler, and keeping what it made.
//!
//! A key stands for the text, the headers, the compiler and its flags. Several processes share a folder: every file is
//! written under a name of its own and then renamed.

use super::CompileError;
use crate::fault::Fault;
use crate::{Configuration, Statistics};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const HEADERS: &[(&str, &str)] = &[
    ("hip_runtime.h", include_str!("../../include/hip/hip_runtime.h")),
    ("hip_fp16.h", include_str!("../../include/hip/hip_fp16.h")),
    ("hip_bf16.h", include_str!("../../include/hip/hip_bf16.h")),
    ("hip_sim_launch.h", include_str!("../../include/hip/hip_sim_launch.h")),
    ("hip_sim_wmma.h", include_str!("../../include/hip/hip_sim_wmma.h")),
];

/// No contraction and no reassociation: the same numbers on every host. Integers wrap, and pointers alias, as on a GPU.
const FLAGS: &[&str] = &[
    "-std=gnu++17",
    "-shared",
    "-fPIC",
    "-w",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-stack-protector",
    "-fvisibility=hidden",
    "-nodefaultlibs",
];

/// `-O2` takes a third longer to compile than `-O1`, and kernels run twice as fast.
const OPTIMISED: &str = "-O2";
/// For texts from [`LONG`] on, where `-O2` takes three times as long: most are candidates that the autotuner tries once.
const LESS_OPTIMISED: &str = "-O1";
/// Bytes.
const LONG: usize = 100_000;

/// The name under which a kernel is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(comparable: &str, configuration: &Configuration) -> Self {
        let mut hasher = DefaultHasher::new();
        (comparable, HEADERS, &configuration.compiler, flags(comparable, configuration)).hash(&mut hasher);
        Self(format!("{:016x}", hasher.finish()))
    }
}

/// A number that changes with what this crate makes of a kernel.
pub(crate) fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    (HEADERS, FLAGS, OPTIMISED, LESS_OPTIMISED, LONG, include_str!("rewrite.rs")).hash(&mut hasher);
    hasher.finish()
}

/// The shared object for `text`, compiled now unless it was before.
pub(super) fn object(
    key: &Key,
    text: &str,
    configuration: &Configuration,
    statistics: &Statistics,
) -> Result<PathBuf, CompileError> {
    let folder = std::path::absolute(&configuration.cache).unwrap_or_else(|_| configuration.cache.clone());
    let object = folder.join(format!("{}.so", key.0));
    if object.exists() {
        statistics.cache_hit();
        return Ok(object);
    }
    let headers = write_headers(&folder)?;
    let source = folder.join(format!("{}.cpp", key.0));
    write(&source, text.as_bytes())?;
    let started = Instant::now();
    let made = temporary(&object);
    compile(&source, text, &made, &headers, configuration)?;
    statistics.compiled(started.elapsed());
    std::fs::rename(&made, &object).map_err(|source| CompileError::Cache { path: object.clone(), source })?;
    Ok(object)
}

/// Writes the kernel's own text, as cubecl wrote it, for checks with other compilers.
pub(super) fn dump(folder: &Path, key: &Key, source: &str) -> Result<(), CompileError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| CompileError::Cache { path: folder.to_path_buf(), source })
        .and_then(|()| write(&folder.join(format!("{}.hip", key.0)), source.as_bytes()))
}

fn compile(
    source: &Path,
    text: &str,
    made: &Path,
    headers: &Path,
    configuration: &Configuration,
) -> Result<(), CompileError> {
    let compiler = &configuration.compiler;
    let mut command = Command::new(compiler);
    command.args(flags(text, configuration)).arg("-I").arg(headers).arg(source).arg("-o").arg(made);
    command.args(["-lm", "-lc", "-lgcc"]);
    let output = command.output();
    let output = output.map_err(|source| CompileError::NoCompiler { compiler: compiler.clone(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let _ = std::fs::remove_file(made);
    Err(CompileError::Refused(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn flags(text: &str, configuration: &Configuration) -> Vec<&'static str> {
    let mut flags = FLAGS.to_vec();
    flags.push(if text.len() < LONG { OPTIMISED } else { LESS_OPTIMISED });
    // Conversions of f16 in hardware, exactly those that the compiler's library makes in software.
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("f16c") {
        flags.push("-mf16c");
    }
    for (fault, flag) in [(Fault::HalfFlush, "-DHIP_SIM_HALF_FLUSH"), (Fault::HalfTruncate, "-DHIP_SIM_HALF_TRUNCATE")]
    {
        if configuration.faults.any(|other| *other == fault) {
            flags.push(flag);
        }
    }
    flags
}

/// Writes the headers to a folder of their own: other versions of the simulator share the cache.
fn write_headers(folder: &Path) -> Result<PathBuf, CompileError> {
    let headers = folder.join(format!("include-{:016x}", fingerprint()));
    let include = headers.join("hip");
    std::fs::create_dir_all(&include).map_err(|source| CompileError::Cache { path: include.clone(), source })?;
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
    let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| CompileError::Cache { path: path.to_path_buf(), source })
}

/// A name that no other process or thread takes.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("{}-{count}.tmp", std::process::id()))
}

//! A simulated ROCm installation in a folder of its own, whole or damaged, for tests.
//!
//! The libraries are those that cargo built for this crate's dependencies, beside the test binary.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with `lib/libamdhip64.so`, `lib/libhiprtc.so` and `bin/hipconfig`, gone when dropped.
#[derive(Debug)]
pub struct Installation {
    folder: TempDir,
}

/// What is wrong with an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// There is no file of that name in `lib`.
    Missing(&'static str),
    /// A file in `lib` ends early: the rest was never written.
    Truncated(&'static str),
    /// A file in `lib` does not export the function.
    Lacks(&'static str, &'static str),
    /// `bin/hipconfig` does this instead.
    Hipconfig(&'static str),
}

/// The simulated HIP runtime.
pub const RUNTIME: &str = "libamdhip64.so";
/// The simulated compiler.
pub const COMPILER: &str = "libhiprtc.so";

impl Installation {
    /// A whole one.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, or cargo has not built the libraries.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        std::fs::create_dir_all(root.join("lib"))?;
        std::fs::create_dir_all(root.join("bin"))?;
        std::fs::copy(built("libhip_sim_amdhip64.so")?, root.join("lib").join(RUNTIME))?;
        std::fs::copy(built("libhip_sim_hiprtc.so")?, root.join("lib").join(COMPILER))?;
        let installation = Self { folder };
        installation.write_hipconfig(&format!("echo {}", installation.root().display()))?;
        Ok(installation)
    }

    /// One that is `damage`d.
    ///
    /// # Errors
    ///
    /// As for [`Installation::new`]; or the function is not there.
    pub fn damaged(damage: &[Damage]) -> io::Result<Self> {
        let installation = Self::new()?;
        for damage in damage {
            installation.apply(*damage)?;
        }
        Ok(installation)
    }

    /// The folder, for `ROCM_PATH`.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// `PATH` with the folder's programs before all others.
    pub fn path(&self) -> std::ffi::OsString {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.root().join("bin")).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).unwrap_or(others)
    }

    fn apply(&self, damage: Damage) -> io::Result<()> {
        let library = |name: &str| self.root().join("lib").join(name);
        match damage {
            Damage::Missing(name) => std::fs::remove_file(library(name)),
            Damage::Truncated(name) => {
                let bytes = std::fs::read(library(name))?;
                std::fs::write(library(name), &bytes[..bytes.len() / 16])
            }
            Damage::Lacks(name, function) => {
                let bytes = std::fs::read(library(name))?;
                std::fs::write(library(name), renamed(bytes, function)?)
            }
            Damage::Hipconfig(body) => self.write_hipconfig(body),
        }
    }

    fn write_hipconfig(&self, body: &str) -> io::Result<()> {
        let path = self.root().join("bin/hipconfig");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n"))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
    }
}

/// A file that cargo built, beside the test binary.
fn built(name: &str) -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let path = program.parent().unwrap_or(Path::new(".")).join(name);
    let hint = || io::Error::new(io::ErrorKind::NotFound, format!("cargo has not built `{}`", path.display()));
    if path.is_file() { Ok(path) } else { Err(hint()) }
}

/// The library with another last letter in the name of a function: its hash in the symbol table stays, so that whoever
/// looks for either name does not find it.
fn renamed(mut bytes: Vec<u8>, function: &str) -> io::Result<Vec<u8>> {
    let name: Vec<u8> = [b"\0", function.as_bytes(), b"\0"].concat();
    let places: Vec<usize> =
        bytes.windows(name.len()).enumerate().filter(|(_, window)| *window == name).map(|(place, _)| place).collect();
    if places.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("no function `{function}`")));
    }
    for place in places {
        bytes[place + name.len() - 2] = b'_';
    }
    Ok(bytes)
}

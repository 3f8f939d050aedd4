//! A simulated ROCm installation in a temporary folder, complete or corrupted, for tests.
//!
//! Cargo builds the libraries as dependencies of this crate, in the folder of the test binary.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with `lib/libamdhip64.so`, `lib/libhiprtc.so`, `lib/librocblas.so`, `lib/libMIOpen.so`
/// and `bin/hipconfig`, deleted on drop.
#[derive(Debug)]
pub struct Installation {
    folder: TempDir,
}

/// A defect of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallationDefect {
    /// The file in `lib` is missing.
    Missing(&'static str),
    /// The file in `lib` is truncated.
    Truncated(&'static str),
    /// A file in `lib` does not export a function.
    Lacks {
        /// The file.
        library: &'static str,
        /// The function.
        function: &'static str,
    },
    /// `bin/hipconfig` is this shell script.
    Hipconfig(&'static str),
}

/// The simulated HIP runtime.
pub const RUNTIME: &str = "libamdhip64.so";
/// The simulated compiler.
pub const COMPILER: &str = "libhiprtc.so";
/// The simulated library of matrix products.
pub const PRODUCTS: &str = "librocblas.so";
/// The simulated library of convolutions.
pub const CONVOLUTIONS: &str = "libMIOpen.so";

impl Installation {
    /// A complete installation.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, or cargo has not built the libraries.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        std::fs::create_dir_all(root.join("lib"))?;
        std::fs::create_dir_all(root.join("bin"))?;
        for (file, name) in [
            ("libhip_sim_amdhip64.so", RUNTIME),
            ("libhip_sim_hiprtc.so", COMPILER),
            ("libhip_sim_rocblas.so", PRODUCTS),
            ("libhip_sim_miopen.so", CONVOLUTIONS),
        ] {
            std::fs::copy(built(file)?, root.join("lib").join(name))?;
        }
        let installation = Self { folder };
        installation.write_hipconfig(&format!("echo {}", installation.root().display()))?;
        Ok(installation)
    }

    /// An installation with defects.
    ///
    /// # Errors
    ///
    /// As for [`Installation::new`]; or the library has no such function.
    pub fn corrupted(corruptions: &[InstallationDefect]) -> io::Result<Self> {
        let installation = Self::new()?;
        for corruption in corruptions {
            installation.apply(*corruption)?;
        }
        Ok(installation)
    }

    /// The folder, for `ROCM_PATH`.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// `PATH` with the folder's programs first.
    pub fn path(&self) -> std::ffi::OsString {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            std::iter::once(self.root().join("bin")).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).unwrap_or(others)
    }

    fn apply(&self, corruption: InstallationDefect) -> io::Result<()> {
        let path = |name: &str| self.root().join("lib").join(name);
        match corruption {
            InstallationDefect::Missing(name) => std::fs::remove_file(path(name)),
            InstallationDefect::Truncated(name) => {
                let bytes = std::fs::read(path(name))?;
                std::fs::write(path(name), &bytes[..bytes.len() / 16])
            }
            InstallationDefect::Lacks { library, function } => {
                let bytes = std::fs::read(path(library))?;
                std::fs::write(path(library), renamed(bytes, function)?)
            }
            InstallationDefect::Hipconfig(body) => self.write_hipconfig(body),
        }
    }

    fn write_hipconfig(&self, body: &str) -> io::Result<()> {
        let path = self.root().join("bin/hipconfig");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n"))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
    }
}

/// A file that cargo built, in the folder of the test binary.
fn built(name: &str) -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let path = program.parent().unwrap_or(Path::new(".")).join(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("cargo has not built `{}`", path.display()),
        ))
    }
}

/// The library with another last letter in the name of a function.
fn renamed(mut bytes: Vec<u8>, function: &str) -> io::Result<Vec<u8>> {
    // The hash table of symbols is not updated, so that the loader finds neither name.
    let name: Vec<u8> = [b"\0", function.as_bytes(), b"\0"].concat();
    let offsets: Vec<usize> = bytes
        .windows(name.len())
        .enumerate()
        .filter(|(_, window)| *window == name)
        .map(|(offset, _)| offset)
        .collect();
    if offsets.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("no function `{function}`"),
        ));
    }
    for offset in offsets {
        bytes[offset + name.len() - 2] = b'_';
    }
    Ok(bytes)
}

//! The build directory that suites outside a cargo workspace share, so that only the first one
//! compiles burn.
//!
//! ```text
//! $TESTGEN_CACHE, else $XDG_CACHE_HOME/testgen, else $HOME/.cache/testgen
//!     build/<runtime>/    a target directory of cargo
//! ```
//!
//! A target directory that the user chose is respected: by `CARGO_TARGET_DIR`, by cargo's
//! configuration, by a workspace around the suite, or by a `target` that the suite already has.

use super::cargo::{self, CargoPackage, Metadata};
use sha2::{Digest, Sha256};
use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};
use testgen_types::{
    bounded_file::{limit, read_text},
    cache_folder,
};

const RUNTIME: &str = "testgen-runtime";

/// Arguments of cargo that choose the shared build directory, and keep suites in one directory
/// apart.
pub(super) fn arguments(manifest: &Path) -> Vec<OsString> {
    let metadata = cargo::metadata(manifest);
    let Some((metadata, suite)) = metadata
        .as_ref()
        .and_then(|metadata| Some((metadata, own_workspace(metadata)?)))
    else {
        return Vec::new();
    };
    let own = metadata.workspace_root.join("target");
    let mut arguments = Vec::new();
    // Any other directory was chosen by the user.
    if metadata.target_directory == own {
        match cache()
            .zip(runtime_key(&suite.manifest_path))
            .filter(|_| !own.exists())
        {
            Some((cache, runtime)) => {
                arguments.extend([
                    "--target-dir".into(),
                    cache.join("build").join(runtime).into_os_string(),
                ]);
            }
            // No other suite is in there.
            None => return arguments,
        }
    }
    // For both, because `--release` is not known here; a setting of the other profile has no
    // effect.
    for profile in ["dev", "release"] {
        let units = distinct_codegen_units(&suite.manifest_path);
        arguments.push("--config".into());
        arguments.push(
            format!(
                "profile.{profile}.package.{}.codegen-units={units}",
                suite.name
            )
            .into(),
        );
    }
    arguments
}

/// The directories in which [`arguments`] may have built the suite.
pub(super) fn candidates(manifest: &Path) -> Vec<PathBuf> {
    let Some(metadata) = cargo::metadata(manifest) else {
        return Vec::new();
    };
    let shared = own_workspace(&metadata).and_then(|suite| {
        Some(
            cache()?
                .join("build")
                .join(runtime_key(&suite.manifest_path)?),
        )
    });
    std::iter::once(metadata.target_directory)
        .chain(shared)
        .collect()
}

/// Whether the suite is a separate workspace.
pub(super) fn is_own_workspace(manifest: &Path) -> bool {
    cargo::metadata(manifest).is_some_and(|metadata| own_workspace(&metadata).is_some())
}

/// The suite, if it is a separate workspace.
fn own_workspace(metadata: &Metadata) -> Option<&CargoPackage> {
    let [suite] = metadata.packages.as_slice() else {
        return None;
    };
    (suite.manifest_path.parent() == Some(&metadata.workspace_root)).then_some(suite)
}

/// The user's cache directory, the same in which the runtime keeps compiled kernels.
fn cache() -> Option<PathBuf> {
    let folder = cache_folder(|name| env::var_os(name))?;
    // Absolute, because cargo runs in the directory of the suite.
    std::path::absolute(folder).ok()
}

/// A directory name for the runtime that the suite depends on.
fn runtime_key(manifest: &Path) -> Option<String> {
    // One directory per runtime can be deleted when the runtime is no longer used; cargo itself
    // never deletes from a target directory.
    let table: toml::Table = read_text(manifest, limit::SOURCE).ok()?.parse().ok()?;
    let dependency = table.get("dependencies")?.get(RUNTIME)?;
    if let Some(version) = dependency
        .get("version")
        .and_then(|version| version.as_str())
    {
        return Some(
            version
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || c == '.' {
                        c
                    } else {
                        '_'
                    }
                })
                .collect(),
        );
    }
    // The real path, so that a link and its target share what is compiled.
    let path = manifest
        .parent()?
        .join(dependency.get("path")?.as_str()?)
        .canonicalize()
        .ok()?;
    Some(format!("path-{}", digest(&path)))
}

/// A number of codegen units that differs from the number of other suites, which makes cargo give
/// their files different names.
fn distinct_codegen_units(manifest: &Path) -> u64 {
    // Cargo identifies a package of the workspace by its name and its path relative to the
    // workspace, so all suites of one name would share file names, and a suite could run the binary
    // of another one. Every number is above the 256 units of an incremental build, which a suite
    // never reaches, so that the generated code stays the same.
    const MIN: u64 = 257;
    const RANGE: u64 = 1 << 20;
    MIN + u64::from_str_radix(&digest(manifest), 16).expect("a digest is hexadecimal") % RANGE
}

/// 16 hexadecimal digits.
fn digest(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_get_different_numbers_of_codegen_units() {
        let units = |path: &str| distinct_codegen_units(Path::new(path));
        assert_eq!(units("/a/suite/Cargo.toml"), units("/a/suite/Cargo.toml"));
        assert_ne!(units("/a/suite/Cargo.toml"), units("/b/suite/Cargo.toml"));
        assert!(units("/a/suite/Cargo.toml") > 256);
    }
}

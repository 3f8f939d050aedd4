//! Cargo as a child process: the program, its JSON messages and its metadata.

use serde::Deserialize;
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Makes cargo list on stdout what it built, in the format that [`artifacts`] reads.
pub(super) const MESSAGES: [&str; 2] = ["--message-format", "json-render-diagnostics"];

/// The cargo that called testgen, else the first in `PATH`.
pub(super) fn program() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The output files of one target.
#[derive(Debug)]
pub(super) struct Artifact {
    pub(super) target: CargoTarget,
    pub(super) manifest: PathBuf,
    pub(super) executable: Option<PathBuf>,
    pub(super) files: Vec<PathBuf>,
}

/// A target of a package.
#[derive(Debug, Deserialize)]
pub(super) struct CargoTarget {
    pub(super) name: String,
    pub(super) kind: Vec<String>,
}

/// The used fields of a message.
#[derive(Deserialize)]
struct Message {
    reason: String,
    // Optional, because messages of other kinds lack these fields.
    target: Option<CargoTarget>,
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

impl Message {
    fn into_artifact(self) -> Option<Artifact> {
        let (target, manifest) = (self.target?, self.manifest_path?);
        let artifact = Artifact {
            target,
            manifest,
            executable: self.executable,
            files: self.filenames,
        };
        (self.reason == "compiler-artifact").then_some(artifact)
    }
}

/// The artifacts in cargo's messages.
pub(super) fn artifacts(stdout: &str) -> impl Iterator<Item = Artifact> {
    // Other lines are ignored, for instance the output of a build script.
    let messages = stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages.filter_map(Message::into_artifact)
}

/// The used fields of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    /// The members of the workspace.
    pub(super) packages: Vec<CargoPackage>,
    pub(super) workspace_root: PathBuf,
    pub(super) target_directory: PathBuf,
}

/// A member of a workspace.
#[derive(Debug, Deserialize)]
pub(super) struct CargoPackage {
    pub(super) name: String,
    pub(super) manifest_path: PathBuf,
}

/// The name of the package of a manifest. None when cargo fails.
pub(super) fn package_name(manifest: &Path) -> Option<String> {
    let manifest = manifest.canonicalize().ok()?;
    let packages = metadata(&manifest)?.packages;
    packages
        .into_iter()
        .find(|package| package.manifest_path == manifest)
        .map(|package| package.name)
}

/// The workspace of a manifest. None when cargo fails.
pub(super) fn metadata(manifest: &Path) -> Option<Metadata> {
    let mut command = Command::new(program());
    command
        .args([
            "metadata",
            // Only the members are used; to resolve their dependencies, cargo may need the network.
            "--no-deps",
            "--format-version",
            "1",
            "--manifest-path",
        ])
        .arg(manifest);
    // The error is dropped, because the build that follows reports it.
    let output = command.stdin(Stdio::null()).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

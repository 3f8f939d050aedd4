//! Cargo as a child: which one, and what it says it built.

use serde::Deserialize;
use std::{env, path::PathBuf};

/// Makes cargo say on stdout what it built, as [`artifacts`] reads it.
pub(super) const MESSAGES: [&str; 2] = ["--message-format", "json-render-diagnostics"];

/// The cargo that called testgen, else the first in `PATH`.
pub(super) fn program() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Something that cargo built.
#[derive(Debug)]
pub(super) struct Artifact {
    pub(super) target: Target,
    pub(super) manifest: PathBuf,
    pub(super) executable: Option<PathBuf>,
    pub(super) files: Vec<PathBuf>,
}

/// What of a package was built.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) kind: Vec<String>,
}

/// A message of cargo, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<Target>,
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

impl Message {
    fn into_artifact(self) -> Option<Artifact> {
        let (target, manifest) = (self.target?, self.manifest_path?);
        let artifact = Artifact { target, manifest, executable: self.executable, files: self.filenames };
        (self.reason == "compiler-artifact").then_some(artifact)
    }
}

/// What the messages on cargo's stdout tell of; lines that are none are left out.
pub(super) fn artifacts(stdout: &str) -> impl Iterator<Item = Artifact> {
    let messages = stdout.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages.filter_map(Message::into_artifact)
}

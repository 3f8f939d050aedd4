//! The engines that compute, and how they are run.

use std::{ffi::OsString, path::PathBuf, time::Duration};
use testgen_engine::EngineName;

/// The engines, and how they are run.
#[derive(Debug, Clone)]
pub struct ComputationOptions {
    /// The engines that compute; all installed ones if empty.
    pub engines: Vec<EngineName>,
    /// The Python of built-in engines.
    pub python: Option<OsString>,
    /// The manifest of the suite, whose binary contains the native engine.
    pub manifest: PathBuf,
    /// How long a call of an engine, or a run of the suite's binary, may take.
    pub limit: Duration,
}

//! The engines that compute, and how they are run.

use std::{ffi::OsString, time::Duration};
use testgen_engine::EngineName;

/// The engines, and how they are run.
#[derive(Debug, Clone)]
pub struct ComputationOptions {
    /// The engines that compute; all installed ones if empty.
    pub engines: Vec<EngineName>,
    /// The Python of built-in engines.
    pub python: Option<OsString>,
    /// How long a call of an engine may take.
    pub limit: Duration,
}

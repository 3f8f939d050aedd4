//! The visible-device variables: their values, the libraries that read them, and their effects.
//!
//! The libraries apply them by themselves; nothing is filtered here. On ROCm, the ROCm runtime
//! applies `ROCR_VISIBLE_DEVICES` first. Then HIP applies `HIP_VISIBLE_DEVICES` or, where that is
//! unset or empty, `CUDA_VISIBLE_DEVICES`; its indices count the devices that are left. The CUDA
//! driver reads `CUDA_VISIBLE_DEVICES` only.

mod parse;
mod variable;

pub use variable::{VisibleEntry, VisibleReader, VisibleVariable};

use crate::device::DetectionPath;
use crate::system::System;
use serde::Serialize;
use std::fmt;

/// The variables that are set, in the order in which they apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Visibility {
    /// One entry for each variable and library that reads it.
    pub variables: Vec<VisibleVariable>,
}

impl Visibility {
    /// The variables that apply on a path, in order.
    pub fn on(&self, path: DetectionPath) -> impl Iterator<Item = &VisibleVariable> {
        self.variables.iter().filter(move |variable| match path {
            DetectionPath::HostProcessor => false,
            DetectionPath::HipRuntime | DetectionPath::Engine => {
                variable.reader != VisibleReader::Cuda
            }
            DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => {
                variable.reader == VisibleReader::Cuda
            }
        })
    }

    /// The variables with an error.
    pub fn errors(&self) -> impl Iterator<Item = &VisibleVariable> {
        self.variables
            .iter()
            .filter(|variable| variable.error.is_some())
    }

    /// The variables that may be the cause of a path without devices, to append to a reason; empty
    /// when none is set.
    pub(crate) fn visibility_hint(&self, path: DetectionPath) -> String {
        let narrowing = self
            .on(path)
            .filter(|variable| variable.hides_all || !variable.entries.is_empty());
        let hints: Vec<String> = narrowing
            .map(|variable| format!("; {variable}; unset {} to see every device", variable.name))
            .collect();
        hints.concat()
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.variables.is_empty() {
            return f.write_str("no visible-device variable is set");
        }
        let lines: Vec<String> = self
            .variables
            .iter()
            .map(VisibleVariable::to_string)
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Reads the three variables.
pub fn visible_devices(system: &System) -> Visibility {
    let hip = read_variable("HIP_VISIBLE_DEVICES", VisibleReader::Hip, system);
    let hip_is_empty = hip
        .as_ref()
        .is_none_or(|variable| variable.value.is_empty());
    // HIP takes CUDA's variable as an alias, for programs that were written for CUDA.
    let alias = hip_is_empty
        .then(|| read_variable("CUDA_VISIBLE_DEVICES", VisibleReader::Hip, system))
        .flatten();
    let rocm = read_variable("ROCR_VISIBLE_DEVICES", VisibleReader::RocmRuntime, system);
    let cuda = read_variable("CUDA_VISIBLE_DEVICES", VisibleReader::Cuda, system);
    Visibility {
        variables: [rocm, hip, alias, cuda].into_iter().flatten().collect(),
    }
}

fn read_variable(
    name: &'static str,
    reader: VisibleReader,
    system: &System,
) -> Option<VisibleVariable> {
    system
        .variable(name)
        .map(|value| parse::variable(name, reader, value))
}

//! The Python of testgen, which the command line and the engines contain as text.
//!
//! Owns the files of each program and how Python runs them. Does not own how the process is
//! started, its arguments and its messages: that is in `testgen-engine` for engines, and in the
//! command line for the recorder and the exporter. The packages `fixtures`, `faults` and `tests`
//! beside this crate are run in this repository only.

mod files;

use files::{ENGINE, EXPORT, EmbeddedFiles, MAIN, RECORD, REFERENCE};
use std::{ffi::OsString, fs, io, path::Path};

/// A program in Python: the module to run, and the files that it imports.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedProgram {
    module: &'static str,
    packages: &'static [EmbeddedFiles],
}

/// `testgen record`: the arguments
/// `[--seed N] [--noise-samples N] [--inputs FILE] [--force] [--answers] [--progress] CHECKPOINT`.
pub const RECORDER: EmbeddedProgram = EmbeddedProgram {
    module: "record.goldens",
    packages: &[REFERENCE, RECORD],
};

/// `testgen export`: the arguments `[--into-checkpoint] [--force] CACHE CHECKPOINT...`. It prints
/// the path of each graph.
pub const EXPORTER: EmbeddedProgram = EmbeddedProgram {
    module: "export.onnx_export",
    packages: &[REFERENCE, ENGINE, EXPORT],
};

/// The engine `torch`, without arguments.
pub const TORCH: EmbeddedProgram = EmbeddedProgram {
    module: "engine.torch_engine",
    packages: &[REFERENCE, ENGINE],
};

/// The engine `onnxruntime`, without arguments.
pub const ONNXRUNTIME: EmbeddedProgram = EmbeddedProgram {
    module: "engine.onnx_engine",
    packages: &[REFERENCE, ENGINE],
};

/// The text of a program for `python -c`: without arguments it lists packages from their metadata;
/// with the name of a package it imports that one. It imports no other file.
pub const DOCTOR_PROBE: &str = include_str!("../doctor/probe.py");

impl EmbeddedProgram {
    /// Writes the files of the program into an empty directory.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        for (name, text) in MAIN.iter().chain(self.packages.iter().copied().flatten()) {
            let path = directory.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// The first arguments of Python, which name the directory of [`Self::write`] and the module.
    pub fn arguments(&self, directory: &Path) -> [OsString; 2] {
        [directory.into(), self.module.into()]
    }
}

#[cfg(test)]
mod tests;

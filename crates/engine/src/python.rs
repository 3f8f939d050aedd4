//! The engines that are programs in Python and part of testgen.

use testgen_python::{EmbeddedProgram, ONNXRUNTIME, TORCH};

/// The names of the engines that are part of testgen, in Python.
pub const BUILT_IN: [&str; 2] = ["torch", "onnxruntime"];

/// The program of a built-in engine, or `None` for another one.
pub(crate) fn built_in(name: &str) -> Option<EmbeddedProgram> {
    BUILT_IN
        .iter()
        .zip([TORCH, ONNXRUNTIME])
        .find(|(built_in, _)| **built_in == name)
        .map(|(_, program)| program)
}

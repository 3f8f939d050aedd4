//! The Python that exports a checkpoint as an ONNX graph.

use crate::python;
use std::{io, path::Path};

/// The file to run: `python -I onnx_export.py [--into-checkpoint] [--force] CACHE CHECKPOINT`
/// prints the path of the graph.
pub const EXPORTER: &str = "onnx_export.py";

/// Writes [`EXPORTER`] and the files that it imports into a directory.
///
/// # Errors
///
/// When a file cannot be written.
pub fn write_exporter(directory: &Path) -> io::Result<()> {
    python::write(directory)
}

//! The files of the built-in engines, which Python imports from one directory.
//!
//! Some are the recorder's (links into `python/record`): they name the results of a model, so that
//! the engine and the goldens agree about names.

use std::{fs, io, path::Path};

/// The names of the engines that are part of testgen, in Python.
pub const BUILT_IN: [&str; 2] = ["torch", "onnxruntime"];

/// The file to run for each of them.
const MAIN: [&str; 2] = ["torch_engine.py", "onnx_engine.py"];

/// The file to run for a built-in engine, or `None` for another one.
pub(crate) fn main_file(program: &str) -> Option<&'static str> {
    BUILT_IN
        .iter()
        .zip(MAIN)
        .find(|(name, _)| **name == program)
        .map(|(_, file)| file)
}

/// Writes all files into a directory.
pub(crate) fn write(directory: &Path) -> io::Result<()> {
    FILES
        .iter()
        .try_for_each(|(name, text)| fs::write(directory.join(name), text))
}

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../python/", $name)))),*]
    };
}

/// All files, by name.
const FILES: &[(&str, &str)] = files! {
    "torch_engine.py"
    "onnx_engine.py"
    "onnx_export.py"
    "atomic_folder.py"
    "engine_calls.py"
    "engine_device.py"
    "engine_forward.py"
    "engine_loop.py"
    "engine_models.py"
    "engine_operators.py"
    "engine_protocol.py"
    "engine_session.py"
    "engine_times.py"
    "decoder_inputs.py"
    "decoder_only.py"
    "diffusion.py"
    "encoder_decoder.py"
    "encoder_only.py"
    "errors.py"
    "families.py"
    "forward_arguments.py"
    "generation.py"
    "gpu_identity.py"
    "graph.py"
    "image_inputs.py"
    "multimodal.py"
    "object_detection.py"
    "onnx_account.py"
    "onnx_calls.py"
    "onnx_digest.py"
    "onnx_graph.py"
    "onnx_half.py"
    "onnx_operation.py"
    "onnx_provider.py"
    "onnx_session.py"
    "rag.py"
    "reference.py"
    "registry.json"
    "registry.py"
    "results.py"
    "rounded_inputs.py"
    "speech.py"
    "text_inputs.py"
    "time_series.py"
    "torch_operators.py"
    "versions.py"
    "vision.py"
    "vision_text.py"
    "weight_files.py"
};

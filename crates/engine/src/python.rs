//! The files of the engine `torch`, which Python imports from one directory.
//!
//! Those without `engine` in their names are the recorder's (links into `src/record`): they name the results of a model, so that the
//! engine and the goldens agree about names.

/// The file to run.
pub(crate) const MAIN: &str = "torch_engine.py";

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../python/", $name)))),*]
    };
}

/// All files, by name.
pub(crate) const FILES: &[(&str, &str)] = files! {
    "torch_engine.py"
    "engine_calls.py"
    "engine_device.py"
    "engine_forward.py"
    "engine_models.py"
    "engine_protocol.py"
    "engine_session.py"
    "decoder_inputs.py"
    "decoder_only.py"
    "diffusion.py"
    "encoder_decoder.py"
    "encoder_only.py"
    "errors.py"
    "families.py"
    "generation.py"
    "graph.py"
    "image_inputs.py"
    "multimodal.py"
    "object_detection.py"
    "rag.py"
    "registry.json"
    "registry.py"
    "results.py"
    "rounded_inputs.py"
    "speech.py"
    "text_inputs.py"
    "time_series.py"
    "vision.py"
    "vision_text.py"
};

//! The files that are part of testgen, by package. A test compares them with the folders.

/// The texts of files, by their path below the folder that Python gets.
pub(crate) type EmbeddedFiles = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../", $name)))),*]
    };
}

/// Runs the module that the first argument names.
pub(crate) const MAIN: EmbeddedFiles = files! { "__main__.py" };

/// Loading, running and naming the results of models: shared by all programs.
pub(crate) const REFERENCE: EmbeddedFiles = files! {
    "reference/__init__.py"
    "reference/decoder_inputs.py"
    "reference/errors.py"
    "reference/families/__init__.py"
    "reference/families/decoder_only.py"
    "reference/families/diffusion.py"
    "reference/families/encoder_decoder.py"
    "reference/families/encoder_only.py"
    "reference/families/graph.py"
    "reference/families/multimodal.py"
    "reference/families/object_detection.py"
    "reference/families/rag.py"
    "reference/families/speech.py"
    "reference/families/time_series.py"
    "reference/families/vision.py"
    "reference/families/vision_text.py"
    "reference/forward_arguments.py"
    "reference/generation.py"
    "reference/image_inputs.py"
    "reference/loading.py"
    "reference/losses.py"
    "reference/registry.json"
    "reference/registry.py"
    "reference/results.py"
    "reference/rounded_inputs.py"
    "reference/text_inputs.py"
    "reference/versions.py"
    "reference/weight_files.py"
};

/// The recorder.
pub(crate) const RECORD: EmbeddedFiles = files! {
    "record/__init__.py"
    "record/answer_arrays.py"
    "record/answer_document.py"
    "record/answer_generation.py"
    "record/answer_maps.py"
    "record/answer_media.py"
    "record/answer_subject.py"
    "record/answer_tasks.py"
    "record/answer_text.py"
    "record/answers.py"
    "record/any_audio.py"
    "record/any_cases.py"
    "record/any_extra.py"
    "record/any_generation.py"
    "record/any_images.py"
    "record/any_series.py"
    "record/any_text.py"
    "record/any_vectors.py"
    "record/atomic_file.py"
    "record/config_effects.py"
    "record/drawn_inputs.py"
    "record/expert_margin.py"
    "record/given_inputs.py"
    "record/golden_file.py"
    "record/goldens.py"
    "record/label_scores.py"
    "record/measured_sizes.py"
    "record/noise.py"
    "record/noise_samples.py"
    "record/plain_texts.py"
    "record/progress.py"
    "record/quantized_layers.py"
    "record/random_numbers.py"
    "record/recipe.py"
    "record/recipe_values.py"
    "record/relative_errors.py"
    "record/summary.py"
    "record/vocabulary.py"
    "record/weight_statistics.py"
};

/// The engines.
pub(crate) const ENGINE: EmbeddedFiles = files! {
    "engine/__init__.py"
    "engine/engine_calls.py"
    "engine/engine_device.py"
    "engine/engine_forward.py"
    "engine/engine_loop.py"
    "engine/engine_models.py"
    "engine/engine_operators.py"
    "engine/engine_protocol.py"
    "engine/engine_session.py"
    "engine/engine_times.py"
    "engine/gpu_identity.py"
    "engine/onnx_account.py"
    "engine/onnx_calls.py"
    "engine/onnx_digest.py"
    "engine/onnx_engine.py"
    "engine/onnx_graph.py"
    "engine/onnx_half.py"
    "engine/onnx_operation.py"
    "engine/onnx_provider.py"
    "engine/onnx_session.py"
    "engine/operators.json"
    "engine/same_gpu.py"
    "engine/torch_collectives.py"
    "engine/torch_compiled.py"
    "engine/torch_engine.py"
    "engine/torch_operators.py"
    "engine/torch_repeated.py"
    "engine/torch_split.py"
};

/// The exporter.
pub(crate) const EXPORT: EmbeddedFiles = files! {
    "export/__init__.py"
    "export/atomic_folder.py"
    "export/onnx_export.py"
};

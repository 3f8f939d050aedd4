//! Harnesses of fixtures, made of the same steps as generated ones.

use testgen_runtime::{
    Architecture, Checkpoint, DeviceKind, DeviceRequest, Endpoint, Harness, ModelType, Precision, Source, Spec, Task,
    host_processor, load, memory, open, probe_half_precision, task,
};

/// All precisions, as specs have them.
pub(crate) const PRECISIONS: &[Precision] = &[Precision::F32, Precision::F16, Precision::Bf16];

/// A module with the harness of a fixture; the GPU's ways in are those of a machine without GPUs.
macro_rules! harness {
    ($name:ident: $model_type:ident, $architecture:ident, $task:ident, $handler:ident) => {
        /// The harness of the fixture of that name.
        pub(crate) mod $name {
            use super::*;

            /// What it tests.
            pub(crate) static SPEC: Spec = SPEC_VALUE;

            /// The value, for specs that differ in one field.
            pub(crate) const SPEC_VALUE: Spec = Spec {
                name: stringify!($name),
                model_type: ModelType::$model_type,
                architecture: Architecture::$architecture,
                task: Task::$task,
                source: Source { path: stringify!($name), hub: None },
                devices: DeviceKind::ALL,
                precisions: PRECISIONS,
                tolerances: &[],
                vram_mib: None,
            };

            /// Loads the model on the host processor.
            pub(crate) fn init_cpu(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
                super::on_host(&SPEC, checkpoint, request, label, DeviceKind::Cpu, task::$handler)
            }

            /// Falls back to the host processor.
            pub(crate) fn init_rocm(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
                let absence = testgen_runtime::Absence::new(DeviceKind::Rocm, "this harness knows no GPU");
                init_cpu(checkpoint, request, &label.replace("rocm", "cpu")).into_fallback(DeviceKind::Rocm, &absence)
            }

            /// Falls back to the host processor.
            pub(crate) fn init_cuda(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
                let absence = testgen_runtime::Absence::new(DeviceKind::Cuda, "this harness knows no GPU");
                init_cpu(checkpoint, request, &label.replace("cuda", "cpu")).into_fallback(DeviceKind::Cuda, &absence)
            }

            /// The harness.
            pub(crate) static HARNESS: Harness = Harness { spec: &SPEC, init_cpu, init_cuda, init_rocm, checks: &[] };
        }
    };
}

harness!(bart: Bart, EncoderDecoder, Text2TextGeneration, text2text_generation);
harness!(bert: Bert, EncoderOnly, TextEmbedding, text_embedding);
harness!(clip: Clip, VisionText, ImageTextSimilarity, image_text_similarity);
harness!(clip_end_token: Clip, VisionText, ImageTextEmbedding, image_text_embedding);
harness!(detr: Detr, ObjectDetection, ObjectDetection, object_detection);
harness!(gpt2: Gpt2, DecoderOnly, TextGeneration, text_generation);
harness!(graphormer: Graphormer, Graph, GraphClassification, graph_classification);
harness!(graphormer_base: Graphormer, Graph, GraphEmbedding, graph_embedding);
harness!(graphormer_regression: Graphormer, Graph, GraphClassification, graph_classification);
harness!(llama: Llama, DecoderOnly, TextGeneration, text_generation);
harness!(llava: Llava, Multimodal, ImageTextToText, image_text_to_text);
harness!(mamba: Mamba, Ssm, TextGeneration, text_generation);
harness!(mistral: Mistral, DecoderOnly, TextGeneration, text_generation);
harness!(patchtst: PatchTst, TimeSeries, TimeSeriesForecasting, time_series_forecasting);
harness!(olmoe: Olmoe, Moe, TextGeneration, text_generation);
harness!(rag_sequence: Rag, Rag, RetrievalAugmentedGeneration, retrieval_augmented_generation);
harness!(rag_token: Rag, Rag, RetrievalAugmentedGeneration, retrieval_augmented_generation);
harness!(resnet_basic: ResNet, Vision, ImageClassification, image_classification);
harness!(roberta: Roberta, EncoderOnly, FillMask, fill_mask);
harness!(siglip: Siglip, VisionText, ImageTextSimilarity, image_text_similarity);
harness!(t5: T5, EncoderDecoder, Text2TextGeneration, text2text_generation);
harness!(autoencoder_kl: AutoencoderKl, Diffusion, ImageDecoding, image_decoding);
harness!(unet: Unet, Diffusion, ImageDenoising, image_denoising);
harness!(vit: Vit, Vision, ImageClassification, image_classification);
harness!(yolos: Yolos, ObjectDetection, ObjectDetection, object_detection);
harness!(wav2vec2: Wav2Vec2, Speech, SpeechRecognition, speech_recognition);
harness!(whisper: Whisper, Speech, SpeechRecognition, speech_recognition);

/// The steps of a generated `init_cpu`, for an endpoint that calls itself one of `kind`.
pub(crate) fn on_host(
    spec: &'static Spec,
    checkpoint: &Checkpoint,
    request: &DeviceRequest,
    label: &str,
    kind: DeviceKind,
    handler: task::Handler,
) -> Endpoint {
    let device = match open(host_processor()) {
        Ok(device) => device,
        Err(error) => return Endpoint::mock(label, kind, &error),
    };
    let precision = match probe_half_precision(&device).choose(request.precision, spec.precisions) {
        Ok(precision) => precision,
        Err(error) => return Endpoint::mock(label, kind, &error),
    };
    let before = memory(&device);
    match load(spec, checkpoint, &device, precision) {
        Ok(model) => {
            let after = memory(&device);
            Endpoint::real(label, kind, device, model, handler).with_memory(before, after)
        }
        Err(error) => Endpoint::mock(label, kind, &error),
    }
}

//! Harnesses of fixtures, with the same steps as generated ones.

use testgen_runtime::{
    Architecture, DeviceKind, Endpoint, Harness, InitError, LoadTarget, LoadedModel, ModelType,
    Precision, RecordedRequest, Request, RequestError, Source, Spec, Subject, Task, host_processor,
    load, memory, probe_half_precision, task,
};

/// All precisions, as specs have them.
pub(crate) const PRECISIONS: &[Precision] = &[Precision::F32, Precision::F16, Precision::Bf16];

/// A module with the harness of a fixture. Its GPU functions behave as on a machine without GPUs.
macro_rules! harness {
    ($name:ident: $model_type:ident, $architecture:ident, $task:ident, $handler:ident) => {
        /// The harness of the fixture with this name.
        pub(crate) mod $name {
            use super::*;

            /// The spec.
            pub(crate) static SPEC: Spec = SPEC_VALUE;

            /// The spec as a value, for specs that differ in one field.
            pub(crate) const SPEC_VALUE: Spec = Spec {
                name: stringify!($name),
                subject: Subject::Model {
                    model_type: ModelType::$model_type,
                    source: Source {
                        path: stringify!($name),
                        hub: None,
                    },
                },
                architecture: Architecture::$architecture,
                task: Task::$task,
                devices: DeviceKind::ALL,
                precisions: PRECISIONS,
                tolerances: &[],
                vram_mib: None,
                limit_seconds: None,
            };

            /// Loads the model on the host processor.
            pub(crate) fn init_cpu(target: &LoadTarget) -> Endpoint {
                super::on_host(&SPEC, target, DeviceKind::Cpu, task::$handler)
            }

            /// Falls back to the host processor.
            pub(crate) fn init_rocm(target: &LoadTarget) -> Endpoint {
                let absence = testgen_runtime::DeviceUnavailable::new(
                    DeviceKind::Rocm,
                    "this harness knows no GPU",
                );
                init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(DeviceKind::Rocm, &absence)
            }

            /// Falls back to the host processor.
            pub(crate) fn init_cuda(target: &LoadTarget) -> Endpoint {
                let absence = testgen_runtime::DeviceUnavailable::new(
                    DeviceKind::Cuda,
                    "this harness knows no GPU",
                );
                init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(DeviceKind::Cuda, &absence)
            }

            /// The harness.
            pub(crate) static HARNESS: Harness = Harness {
                spec: &SPEC,
                init_cpu,
                init_cuda,
                init_rocm,
                request,
                skipped: &[],
            };

            /// The request of the task.
            pub(crate) fn request(recorded: &RecordedRequest) -> Result<Request, RequestError> {
                crate::requests::request_of(Task::$task, recorded)
            }
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
harness!(gemma: Gemma, DecoderOnly, TextGeneration, text_generation);
harness!(llama: Llama, DecoderOnly, TextGeneration, text_generation);
harness!(llama_deep: Llama, DecoderOnly, TextGeneration, text_generation);
harness!(llama_large_golden: Llama, DecoderOnly, TextGeneration, text_generation);
harness!(llama_synthetic_gptq: Llama, DecoderOnly, TextGeneration, text_generation);
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
harness!(unet_text_time: Unet, Diffusion, ImageDenoising, image_denoising);
harness!(vit: Vit, Vision, ImageClassification, image_classification);
harness!(yolos: Yolos, ObjectDetection, ObjectDetection, object_detection);
harness!(wav2vec2: Wav2Vec2, Speech, SpeechRecognition, speech_recognition);
harness!(whisper: Whisper, Speech, SpeechRecognition, speech_recognition);

/// The steps of a generated `init_cpu`, for an endpoint that claims to be on a device of `kind`.
pub(crate) fn on_host(
    spec: &'static Spec,
    target: &LoadTarget,
    kind: DeviceKind,
    handler: task::Handler,
) -> Endpoint {
    load_on_host(spec, target).map_or_else(
        |error| Endpoint::mock(&target.label, kind, &error),
        |loaded| Endpoint::real(kind, loaded, handler),
    )
}

fn load_on_host(spec: &'static Spec, target: &LoadTarget) -> Result<LoadedModel, InitError> {
    let device = target.open(host_processor())?;
    let precision = probe_half_precision(&device).choose(target.precision, spec.precisions)?;
    let before = memory(&device);
    let model = load(spec, &target.checkpoint, &device, precision)?;
    let after = memory(&device);
    Ok(LoadedModel::new(target, device, model).with_memory(before, after))
}

//! Harnesses of fixtures, with a fault at work in what they load or in how they load it.

use super::faulty::{Fault, Faulty};
use crate::{
    Absence, Architecture, Checkpoint, DeviceKind, DeviceRequest, Endpoint, Harness, ModelType, Precision, Registered,
    Source, Spec, Task, host_processor, load, memory::Held, open, suite, task,
};
use std::{cell::Cell, io, path::Path};
use testgen_contract::{Record, Registration};

/// What a model that stays in memory is counted as: a tebibyte, so that the bytes which a check tells are those of the fault,
/// whatever other tests of this process take and give back meanwhile.
const KEPT: usize = 1 << 40;

thread_local! {
    /// What the check of this thread is made of; a harness's functions are told neither.
    static AT_WORK: Cell<Option<(&'static Spec, Fault)>> = const { Cell::new(None) };
}

/// The harness of a fixture.
macro_rules! harness {
    ($name:ident: $fixture:literal, $model_type:ident, $architecture:ident, $task:ident) => {
        pub(super) static $name: Harness = Harness {
            spec: &Spec {
                name: $fixture,
                model_type: ModelType::$model_type,
                architecture: Architecture::$architecture,
                task: Task::$task,
                source: Source { path: $fixture, hub: None },
                devices: DeviceKind::ALL,
                precisions: Precision::ALL,
                tolerances: &[],
                vram_mib: None,
            },
            init_cpu,
            init_cuda: |checkpoint, request, label| init_gpu(checkpoint, request, label, DeviceKind::Cuda),
            init_rocm: |checkpoint, request, label| init_gpu(checkpoint, request, label, DeviceKind::Rocm),
            checks: &[],
        };
    };
}

harness!(BERT: "bert", Bert, EncoderOnly, TextEmbedding);
harness!(CLIP: "clip", Clip, VisionText, ImageTextSimilarity);
harness!(GRAPHORMER: "graphormer_regression", Graphormer, Graph, GraphClassification);
harness!(LLAMA: "llama", Llama, DecoderOnly, TextGeneration);
harness!(LLAVA: "llava", Llava, Multimodal, ImageTextToText);
harness!(MAMBA: "mamba2", Mamba2, Ssm, TextGeneration);
harness!(OLMOE: "olmoe", Olmoe, Moe, TextGeneration);
harness!(PATCHTST: "patchtst", PatchTst, TimeSeries, TimeSeriesForecasting);
harness!(RAG_SEQUENCE: "rag_sequence", Rag, Rag, RetrievalAugmentedGeneration);
harness!(RAG_TOKEN: "rag_token", Rag, Rag, RetrievalAugmentedGeneration);
harness!(T5: "t5", T5, EncoderDecoder, Text2TextGeneration);
harness!(UNET: "unet", Unet, Diffusion, ImageDenoising);
harness!(VIT: "vit", Vit, Vision, ImageClassification);
harness!(WHISPER: "whisper", Whisper, Speech, SpeechRecognition);
harness!(YOLOS: "yolos", Yolos, ObjectDetection, ObjectDetection);

/// The harness of each architecture whose fixture has everything that its checks compare with.
pub(super) fn of(architecture: Architecture) -> &'static Harness {
    match architecture {
        Architecture::EncoderOnly => &BERT,
        Architecture::DecoderOnly => &LLAMA,
        Architecture::EncoderDecoder => &T5,
        Architecture::Moe => &OLMOE,
        Architecture::Speech => &WHISPER,
        Architecture::Ssm => &MAMBA,
        Architecture::Vision => &VIT,
        Architecture::VisionText => &CLIP,
        Architecture::TimeSeries => &PATCHTST,
        Architecture::ObjectDetection => &YOLOS,
        Architecture::Multimodal => &LLAVA,
        Architecture::Diffusion => &UNET,
        Architecture::Rag => &RAG_SEQUENCE,
        Architecture::Graph => &GRAPHORMER,
    }
}

/// The record of a check that is made with a fault.
pub(super) fn record(harness: &Harness, registration: Registration, fault: Fault, base: &Path) -> Record {
    AT_WORK.set(Some((harness.spec, fault)));
    let record = suite::record(harness, Registered { registration, skip: None }, base);
    AT_WORK.set(None);
    record
}

fn init_cpu(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
    let (spec, fault) = AT_WORK.get().unwrap();
    let precision = request.precision.unwrap_or(Precision::F32);
    let checkpoint = match fault {
        Fault::FieldHardCoded => Checkpoint::at(checkpoint.directory()),
        Fault::OtherCheckpointLoaded => Checkpoint::at(super::fixture::fixtures().join(spec.name)),
        _ => checkpoint.clone(),
    };
    if fault == Fault::HalfPrecisionRefused && precision != Precision::F32 {
        return Endpoint::mock(label, DeviceKind::Cpu, &io::Error::other("refused"));
    }
    let device = open(host_processor()).unwrap();
    let model = match load(spec, &checkpoint, &device, precision) {
        Ok(model) if fault == Fault::FieldHardCoded => model.with_one_field(),
        Ok(model) => model.with_run(|inner| Box::new(Faulty::new(inner, fault, precision))),
        Err(error) => return Endpoint::mock(label, DeviceKind::Cpu, &error),
    };
    if fault == Fault::ModelKept {
        std::mem::forget(Held::new(KEPT));
    }
    Endpoint::real(label, DeviceKind::Cpu, device, model, task::text_generation)
}

/// Falls back to the host processor, as on a machine without GPUs.
fn init_gpu(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str, kind: DeviceKind) -> Endpoint {
    let endpoint = init_cpu(checkpoint, request, &label.replace(kind.as_str(), DeviceKind::Cpu.as_str()));
    match AT_WORK.get() {
        Some((_, Fault::FallbackNotMarked)) => endpoint,
        _ => endpoint.into_fallback(kind, &Absence::new(kind, "this harness knows no GPU")),
    }
}

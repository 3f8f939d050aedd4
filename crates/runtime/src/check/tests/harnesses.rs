//! Harnesses of fixtures that put a fault into the model, or into how it is loaded.

use super::{
    faulty::{Fault, Faulty},
    faulty_operators::FaultyOperators,
    requests::{handler_of, request_of},
};
use crate::{
    bench,
    check::CheckContext,
    endpoint::Endpoint,
    harness::{Harness, Spec},
    load::load,
    load_target::{LoadTarget, LoadedModel},
    machine::host_processor,
    open,
    require::RequiredDevices,
    subject::{LoadedSubject, OperatorShapes, StressShapes, Subject},
    suite,
};
use std::{cell::Cell, io, path::Path};
use testgen_device::{DeviceIndex, DeviceUnavailable};
use testgen_engine::EngineName;
use testgen_models::{Checkpoint, Model, Source};
use testgen_nn::heap::HeldBytes;
use testgen_types::{
    Architecture, BenchEntry, BenchRequest, DeviceKind, ModelType, Operator, Precision,
    Registration, ReportEntry, Task,
};

/// The size of a model that remains in memory: a tebibyte, far more than other tests of this
/// process allocate meanwhile.
const KEPT: usize = 1 << 40;

thread_local! {
    /// The spec and the fault of the check that runs on this thread. The functions of a harness
    /// have no parameter for them.
    static CURRENT: Cell<Option<(&'static Spec, Fault)>> = const { Cell::new(None) };
}

/// The harness of a fixture.
macro_rules! harness {
    ($name:ident: $fixture:literal, $model_type:ident, $architecture:ident, $task:ident) => {
        pub(super) static $name: Harness = Harness {
            spec: &Spec {
                name: $fixture,
                subject: Subject::Model {
                    model_type: ModelType::$model_type,
                    source: Source {
                        path: $fixture,
                        hub: None,
                    },
                },
                architecture: Architecture::$architecture,
                task: Task::$task,
                devices: DeviceKind::ALL,
                precisions: Precision::ALL,
                tolerances: &[],
                vram_mib: None,
                limit_seconds: None,
            },
            init_cpu,
            init_cuda: |target| init_gpu(target, DeviceKind::Cuda),
            init_rocm: |target| init_gpu(target, DeviceKind::Rocm),
            request: |recorded| request_of(Task::$task, recorded),
            skipped: &[],
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

/// The harness of some operators.
static OPERATORS: Harness = Harness {
    spec: &Spec {
        name: "operators",
        subject: Subject::Operators {
            shapes: &[
                OperatorShapes {
                    operator: Operator::Add,
                    shapes: &[&[3, 5]],
                    stress: &[],
                },
                OperatorShapes {
                    operator: Operator::Softmax,
                    shapes: &[&[3, 5]],
                    stress: &[],
                },
                OperatorShapes {
                    operator: Operator::Sum,
                    shapes: &[&[3, 5]],
                    stress: &[],
                },
                OperatorShapes {
                    operator: Operator::Matmul,
                    shapes: &[&[3, 7, 5]],
                    stress: &[StressShapes {
                        issue: "sizes",
                        shapes: &[&[70, 9, 101]],
                    }],
                },
            ],
        },
        architecture: Architecture::Operators,
        task: Task::OperatorEvaluation,
        devices: DeviceKind::ALL,
        precisions: Precision::ALL,
        tolerances: &[],
        vram_mib: None,
        limit_seconds: None,
    },
    init_cpu,
    init_cuda: |target| init_gpu(target, DeviceKind::Cuda),
    init_rocm: |target| init_gpu(target, DeviceKind::Rocm),
    request: |recorded| request_of(Task::OperatorEvaluation, recorded),
    skipped: &[],
};

/// For each architecture a harness whose golden has everything that the checks compare with.
pub(super) fn for_architecture(architecture: Architecture) -> &'static Harness {
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
        Architecture::Operators => &OPERATORS,
    }
}

/// The report entry of a check with a fault.
pub(super) fn report_entry(
    harness: &Harness,
    registration: Registration,
    fault: Fault,
    base: &Path,
) -> ReportEntry {
    CURRENT.set(Some((harness.spec, fault)));
    let entry = suite::run_check(harness, registration, base);
    CURRENT.set(None);
    entry
}

/// The measurements of a harness with a fault.
pub(super) fn measured(
    harness: &Harness,
    registration: Registration,
    fault: Fault,
    (request, base): (&BenchRequest, &Path),
) -> Vec<BenchEntry> {
    CURRENT.set(Some((harness.spec, fault)));
    let context = CheckContext {
        checkpoint: harness.spec.subject.checkpoint(base),
        requirements: &RequiredDevices::default(),
        index: DeviceIndex::Auto,
        engine: EngineName::native(),
    };
    let entries = bench::measure(harness, registration, &context, (request, &bench::host()));
    CURRENT.set(None);
    entries
}

fn init_cpu(target: &LoadTarget) -> Endpoint {
    let (spec, fault) = CURRENT.get().unwrap();
    let precision = target.precision.unwrap_or(Precision::F32);
    let checkpoint = match fault {
        Fault::FieldHardCoded => target
            .checkpoint
            .as_ref()
            .map(|given| Checkpoint::at(given.directory())),
        Fault::OtherCheckpointLoaded => spec.subject.checkpoint(&super::fixture::fixtures()),
        _ => target.checkpoint.clone(),
    };
    if fault == Fault::HalfPrecisionRefused && precision != Precision::F32 {
        return Endpoint::mock(&target.label, DeviceKind::Cpu, &io::Error::other("refused"));
    }
    let device = open(host_processor()).unwrap();
    let model = match load(spec, &checkpoint, &device, precision) {
        Ok(loaded) => with_fault(loaded, fault, precision),
        Err(error) => return Endpoint::mock(&target.label, DeviceKind::Cpu, &error),
    };
    if fault == Fault::ModelKept {
        std::mem::forget(HeldBytes::new(KEPT));
    }
    Endpoint::real(
        DeviceKind::Cpu,
        LoadedModel::new(target, device, model),
        handler_of(spec.task),
    )
}

/// The model or the operators with a fault.
fn with_fault(loaded: LoadedSubject, fault: Fault, precision: Precision) -> LoadedSubject {
    match loaded {
        LoadedSubject::Operators(set) => LoadedSubject::Operators(
            set.map_executor(|inner| Box::new(FaultyOperators::new(inner, fault))),
        ),
        model if fault == Fault::FieldHardCoded => model.map_model(Model::with_one_field),
        model => model.map_model(|model| {
            model.with_network(|inner| Box::new(Faulty::new(inner, fault, precision)))
        }),
    }
}

/// Falls back to the host processor, as on a machine without GPUs.
fn init_gpu(target: &LoadTarget, kind: DeviceKind) -> Endpoint {
    let endpoint = init_cpu(&target.on(DeviceKind::Cpu));
    match CURRENT.get() {
        Some((_, Fault::FallbackNotMarked)) => endpoint,
        _ => endpoint.into_fallback(
            kind,
            &DeviceUnavailable::new(kind, "this harness knows no GPU"),
        ),
    }
}

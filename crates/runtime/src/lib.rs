//! Everything that a generated harness calls: devices, models, checks, goldens, report.
//!
//! The only crate that uses burn. A harness imports names from this root and nothing else, so that
//! neither upgrading burn nor a moved module means generating again.

#![cfg_attr(
    not(all(feature = "native", feature = "operators")),
    allow(dead_code, reason = "what burn and operators need")
)]

mod bench;
mod check;
mod compare;
mod detect;
mod earlier_times;
mod endpoint;
mod engine;
mod golden;
mod gpu_memory;
mod harness;
mod kernels;
mod label;
mod load;
mod load_target;
mod log;
mod machine;
mod memory;
mod open;
mod probe;
mod recorded_answer;
mod recorded_request;
#[cfg(feature = "operators")]
mod repetition;
mod report;
mod require;
#[cfg(feature = "native")]
mod residency;
mod skip;
mod stress_request;
mod subject;
pub mod suite;
pub mod task;
mod tolerance;

pub use detect::{
    cuda_compatibility, cuda_driver, detect, hip_runtime, report_visibility, visible_devices,
};
pub use endpoint::{Answered, Endpoint, QueueFull, Status, Ticket};
pub use engine::CheckEngine;
pub use harness::{Harness, Init, Spec, ToleranceOverride};
pub use label::Label;
pub use load::load;
pub use load_target::{InitError, LoadTarget, LoadedModel};
pub use machine::host_processor;
pub use memory::{DeviceMemory, cleanup, memory, report_memory};
pub use open::{
    OpenDevice, OpenError, OpenStep, device_panic_messages, device_panics, measure_tf32, open,
    open_on,
};
pub use probe::{
    Accumulator, Denormals, HalfProbe, HalfSupport, PrecisionError, PrecisionProbe, Rounding,
    probe_half_precision, report_probe,
};
pub use recorded_request::{RecordedRequest, RequestError};
pub use skip::Skip;
pub use subject::{LoadedSubject, OperatorSet, OperatorShapes, StressShapes, Subject};
pub use task::Request;
pub use testgen_device::{DetectionPath, Device, DeviceIndex, DeviceUnavailable, Visibility};
pub use testgen_engine::EngineName;
pub use testgen_models::{Checkpoint, LoadError, Model, Source, TensorAccount};
pub use testgen_nn::{
    array::{Array, Arrays, Values},
    forward::{Forward, ForwardError, Placement, Session},
    heap::reset_peak,
};
pub use testgen_operators::calls::{
    Attributes, Call, CallError, Computed, Element, Execute, HostTensor, Input, Layout, Reduction,
};
pub use testgen_processing::{
    audio::Audio,
    error::PreprocessError,
    feature_extractor::FeatureExtractor,
    frame_tokens::FrameTokens,
    generation::{FinishReason, GenerationControls, GenerationDefaults, GenerationError},
    graph::Graph,
    graph_collator::GraphCollator,
    image::Image,
    image_processor::ImageProcessor,
    processor::Processor,
    retrieval::Passage,
    tokenizer::{PaddingSide, TextInput, TokenBatch, TokenSpan, TokenizeOptions, Tokenizer},
};
pub use testgen_types::{
    Architecture, Check, DeviceKind, ModelType, Operator, Precision, Repetitions, Task,
};

// The fixtures with faults that unit tests share with those in `tests/`, where this crate has its
// name.
#[cfg(test)]
extern crate self as testgen_runtime;

/// Counts the heap of every program that links this crate; see [`DeviceMemory`].
#[global_allocator]
static ALLOCATOR: testgen_nn::heap::CountingAllocator = testgen_nn::heap::CountingAllocator;

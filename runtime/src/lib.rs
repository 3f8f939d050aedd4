//! Everything that a generated harness calls: devices, models, checks, goldens, report.
//!
//! The only crate that uses burn. A harness imports names from this root and nothing else, so that neither a new burn
//! nor a moved module means generating again.

mod array;
mod backend;
mod check;
mod checkpoint;
mod compare;
mod config;
mod detect;
mod endpoint;
mod generation;
mod golden;
mod harness;
mod layer;
mod memory;
mod model;
mod narration;
mod open;
mod preprocess;
mod probe;
mod report;
mod require;
mod schedule;
pub mod suite;
pub mod task;
mod tolerance;
mod weights;

pub use array::{Array, Arrays, Values};
pub use checkpoint::{Checkpoint, Source};
pub use detect::{
    cuda_compatibility, cuda_driver, detect, hip_runtime, host_processor, report_visibility, visible_devices,
};
pub use endpoint::{Answered, Endpoint, QueueFull, Status, Ticket};
pub use generation::{FinishReason, GenerationControls, GenerationDefaults, GenerationError};
pub use harness::{DeviceRequest, Harness, Init, Registered, Spec, ToleranceOverride};
pub use memory::{Memory, cleanup, memory, report_memory, reset_peak};
pub use model::{Forward, ForwardError, Head, LoadError, Model, Placement, Session, TensorAccount, load};
pub use open::{OpenDevice, OpenError, OpenStep, device_panic_messages, device_panics, measure_tf32, open};
pub use preprocess::{
    Audio, FeatureExtractor, FrameTokens, Graph, GraphCollator, Image, ImageProcessor, PaddingSide, Passage,
    PreprocessError, Processor, TextInput, TokenBatch, TokenSpan, TokenizeOptions, Tokenizer,
};
pub use probe::{
    Accumulator, Denormals, HalfProbe, HalfSupport, PrecisionError, PrecisionProbe, Rounding, probe_half_precision,
    report_probe,
};
pub use testgen_contract::{Architecture, Check, DeviceKind, ModelType, Precision, Task};
pub use testgen_device::{Absence, DetectionPath, Device, DeviceIndex, Visibility};

// The fixtures with faults that unit tests share with those in `tests/`, where this crate has its name.
#[cfg(test)]
extern crate self as testgen_runtime;

/// Counts the heap of every program that links this crate; see [`Memory`].
#[global_allocator]
static ALLOCATOR: memory::CountingAllocator = memory::CountingAllocator;

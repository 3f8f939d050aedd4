//! The closed vocabulary that generator, verifier, runtime and reports share.
//!
//! Owns: which architectures, tasks, devices, precisions, checks, operators and model types exist,
//! which check applies to which architecture, the line formats of reports and of a suite's
//! progress, how required devices are written, how Python's JSON is read, how quantized checkpoints
//! are recognised, the schemes that synthetic weights are quantized by, the text of a panic, a
//! digest that never changes, how files are read with a limit, and the directory of the cache. Does
//! not own: any other behaviour. Generator and runtime match these enums exhaustively, so a new
//! variant is a compile error wherever it must be handled.

// Their macros are for the modules after them, too.
#[macro_use]
mod registry;
#[macro_use]
mod transformers_types;

mod architecture;
mod bench_entry;
mod bench_request;
pub mod bounded_file;
mod cache_folder;
mod check;
mod closed_enum;
mod compile_progress;
mod device_kind;
mod errors_over_depth;
mod excerpt;
mod head;
mod kernel_entry;
mod matrix_unit;
mod model_type;
mod operator;
mod panic_text;
mod precision;
mod provider_share;
mod python_json;
mod quantization;
mod quantization_scheme;
mod refused_classes;
mod registration;
mod report_entry;
mod requirement;
mod stable_digest;
mod task;
mod timed_calls;
mod tuned_computation;
mod type_versions;
mod versioned_json;

pub use architecture::{Architecture, SubjectKind};
pub use bench_entry::{
    BenchDevice, BenchEntry, BenchHost, BenchStatus, BenchTimes, Measured, quantile,
};
pub use bench_request::{BenchRequest, Repetitions};
pub use cache_folder::{CACHE_VARIABLE, cache_folder};
pub use check::{Check, CheckDevices, CheckEntry, CheckTopic, Engines, Precisions};
pub use closed_enum::UnknownName;
pub use compile_progress::CompileProgress;
pub use device_kind::DeviceKind;
pub use errors_over_depth::{ErrorRise, ErrorsOverDepth};
pub use excerpt::excerpt;
pub use head::Head;
pub use kernel_entry::{FactorLayout, KernelEntry, KernelOutcome};
pub use matrix_unit::{ExtraBits, MatrixUnit, SumRounding};
pub use model_type::ModelType;
pub use operator::{Operator, OperatorGroup};
pub use panic_text::panic_text;
pub use precision::Precision;
pub use provider_share::{ProviderShare, ProviderShares};
pub use python_json::from_python;
pub use quantization::QuantizedCheckpoint;
pub use quantization_scheme::QuantizationScheme;
pub use registration::{Registration, engine_checks, required_checks};
pub use registry::{NativeEntry, ScoreFunction};
pub use report_entry::{
    EntryStatus, HardwareInfo, LayerError, LoadMemory, OutputError, ReportEntry, WorstElement,
    test_name, with_engine,
};
pub use requirement::{Requirement, RequirementError};
pub use stable_digest::stable_digest;
pub use task::Task;
pub use timed_calls::{TimedEnd, timed_calls, with_timed_ends};
pub use tuned_computation::{
    ComputationDescription, TUNE_VARIABLE, TUNED_VARIABLE, TunedAlgorithm, TunedComputation,
    TunedComputationKey,
};
pub use versioned_json::parse_versioned;

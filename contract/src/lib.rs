//! The closed words that generator, verifier, runtime and reports share.
//!
//! Owns: which architectures, tasks, devices, precisions, checks and model types exist, which check belongs to which
//! architecture, the line format of a report, and how Python's JSON is read. Does not own: any other behaviour. Generator
//! and runtime match these enums exhaustively, so that a new word is a compile error in every place that must know it.

mod architecture;
mod check;
mod device_kind;
mod model_type;
mod precision;
mod python_json;
mod record;
mod task;
mod word;

pub use architecture::Architecture;
pub use check::{Check, Registration, required_checks};
pub use device_kind::DeviceKind;
pub use model_type::ModelType;
pub use precision::Precision;
pub use python_json::from_python;
pub use record::{HardwareRecord, MemoryRecord, OutputError, Record, RecordStatus, WorstElement, test_name};
pub use task::Task;
pub use word::UnknownWord;

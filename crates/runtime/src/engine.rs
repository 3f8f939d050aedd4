//! Checks on an engine: the process that a check uses, the device that it opened, and its models.
//!
//! Owns the engine of a check, processes that wait for the next one, and the evidence of where an
//! engine runs. Does not own the protocol and the process (`testgen-engine`). Checks do not know
//! it: they see a model, whatever computes it.

mod arrays;
mod attach_error;
mod attached;
mod check_engine;
mod model;
mod operators;
mod pool;
mod reported;
mod timed;
mod witness;

pub(crate) use attach_error::AttachError;
pub(crate) use attached::{AttachedEngine, FloatTensor};
pub use check_engine::CheckEngine;
pub(crate) use check_engine::{EngineEvidence, HighestMemory};
pub(crate) use model::load;
pub(crate) use operators::operators;
pub(crate) use reported::reported_devices;
pub(crate) use witness::RESERVED;

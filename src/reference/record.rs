//! Recording goldens: the only place that runs Python, and only when a user asks for it.
//!
//! Owns: running the embedded recorder for checkpoints, several at once, with a Python that is
//! isolated from the user's environment. Does not own: the recorder itself (`testgen-python`),
//! which reports missing packages and other errors.

mod batch;
mod environment;
mod event;
mod options;
mod process;
mod synthetic;
mod synthetic_weights;

pub use batch::{RecordTarget, record_all};
pub use options::RecordOptions;
pub use synthetic_weights::SyntheticWeights;

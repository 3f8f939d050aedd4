//! Whether this machine can produce valid results: facts about it, what they mean, and computations
//! with a known answer.
//!
//! Owns: gathering facts (drivers, device files, containers, variables, Python packages), their
//! evaluation, which reads nothing but the facts, and the known answers that every installed engine
//! computes on every device. Does not own: the native engine, which is part of a suite and which
//! the command line starts, device detection (`testgen-device`), the protocol of engines
//! (`testgen-engine`), the checks of a suite (`testgen-runtime`).

mod computation;
mod diagnosis;
mod evaluation;
mod facts;
mod gather;
mod requirement;
mod row;

pub use computation::{
    ComputationOptions, ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation,
    compute,
};
pub use diagnosis::Diagnosis;
pub use evaluation::{evaluate, evaluate_computations};
pub use facts::{
    Access, DeviceFile, Host, KernelModule, MachineFacts, Python, PythonFailure, PythonPackage,
    User, UserGroup,
};
pub use gather::gather;
pub use requirement::evaluate_requirements;
pub use row::{Area, DoctorRow, RowStatus};

//! From a harness's spec and an open device to a model.

use crate::{
    engine,
    harness::Spec,
    open::{Executor, OpenDevice, host_backend},
};
use testgen_models::{Checkpoint, LoadError, Model};
use testgen_types::Precision;

/// Loads the checkpoint on `device`, to compute in `precision`.
///
/// The class is the one that the checkpoint's goldens name, else the first of `architectures` in `config.json`.
pub fn load(
    spec: &Spec,
    checkpoint: &Checkpoint,
    device: &OpenDevice,
    precision: Precision,
) -> Result<Model, LoadError> {
    match &device.executor {
        Executor::Native(backend) => testgen_models::load(spec.model_type, checkpoint, backend, precision),
        Executor::Engine(engine) => engine::load(spec.model_type, checkpoint, engine, &host_backend(), precision),
    }
}

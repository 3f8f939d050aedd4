//! From a harness's spec and an open device to a model, or to operators.

use crate::{
    engine,
    harness::Spec,
    load_target::InitError,
    loaded::{Loaded, OperatorSet},
    open::{Executor, OpenDevice, host_backend},
    subject::{OperatorShapes, Subject},
};
use std::collections::BTreeMap;
use testgen_calls::Execute;
use testgen_models::Checkpoint;
use testgen_nn::{device::BackendDevice, forward::Unsupported};
use testgen_types::Precision;

/// Loads the subject of the spec on `device`, to compute in `precision`.
///
/// The class of a model is the one that the checkpoint's goldens name, else the first of `architectures` in `config.json`.
///
/// # Errors
///
/// When the checkpoint cannot be loaded; for operators when there is a checkpoint, which they cannot have.
pub fn load(
    spec: &Spec,
    checkpoint: &Checkpoint,
    device: &OpenDevice,
    precision: Precision,
) -> Result<Loaded, InitError> {
    match spec.subject {
        Subject::Model { model_type, .. } => {
            let (model, lacks) = match &device.executor {
                Executor::Native(backend) => {
                    (testgen_models::load(model_type, checkpoint, backend, precision)?, BTreeMap::new())
                }
                Executor::Engine { process, .. } if process.only_operators() => {
                    return Err(Unsupported("models; it computes operators only".to_owned()).into());
                }
                Executor::Engine { process, engine } => {
                    engine::load(model_type, checkpoint, process, engine, &host_backend(), precision)?
                }
            };
            Ok(Loaded::Model { model: Box::new(model), lacks })
        }
        Subject::Operators { shapes } => operators(shapes, checkpoint, device, precision).map(Loaded::Operators),
    }
}

fn operators(
    shapes: &'static [OperatorShapes],
    checkpoint: &Checkpoint,
    device: &OpenDevice,
    precision: Precision,
) -> Result<OperatorSet, InitError> {
    if !checkpoint.directory().as_os_str().is_empty() {
        return Err(InitError::CheckpointOfOperators { directory: checkpoint.directory().to_owned() });
    }
    let executor = match &device.executor {
        Executor::Native(backend) => executor(backend, precision)?,
        Executor::Engine { process, .. } => engine::operators(process, precision),
    };
    Ok(OperatorSet { shapes, precision, executor })
}

/// The executor of calls with burn.
#[cfg(feature = "operators")]
pub(crate) fn executor(
    backend: &BackendDevice,
    precision: Precision,
) -> Result<Box<dyn Execute + Send + Sync>, InitError> {
    Ok(testgen_executor::executor(backend, precision))
}

/// As above, for a suite without operators.
#[cfg(not(feature = "operators"))]
pub(crate) fn executor(
    _backend: &BackendDevice,
    _precision: Precision,
) -> Result<Box<dyn Execute + Send + Sync>, InitError> {
    Err(InitError::OperatorsNotCompiled)
}

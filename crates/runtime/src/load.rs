//! From a harness's spec and an open device to a model, or to operators.

#[cfg(feature = "native")]
use crate::residency;
use crate::{
    engine,
    harness::Spec,
    load_target::InitError,
    open::{DeviceExecutor, OpenDevice},
    subject::{LoadedSubject, OperatorSet, OperatorShapes, Subject},
};
use std::time::Instant;
use testgen_models::Checkpoint;
#[cfg(feature = "native")]
use testgen_nn::device::BackendDevice;
use testgen_nn::{forward::Unsupported, weights::Residency};
#[cfg(feature = "native")]
use testgen_operators::calls::Execute;
use testgen_types::Precision;

/// Loads the subject of the spec on `device`, to compute in `precision`.
///
/// The class of a model is the one that the checkpoint's goldens name, else the first of
/// `architectures` in `config.json`.
///
/// # Errors
///
/// When the checkpoint cannot be loaded; for a model without a checkpoint, and for operators with
/// one, which they cannot have.
pub fn load<'c>(
    spec: &Spec,
    checkpoint: impl Into<Option<&'c Checkpoint>>,
    device: &OpenDevice,
    precision: Precision,
) -> Result<LoadedSubject, InitError> {
    match (spec.subject, checkpoint.into()) {
        (Subject::Model { .. }, None) => Err(InitError::NoCheckpoint),
        (Subject::Model { model_type, .. }, Some(checkpoint)) => {
            let start = Instant::now();
            let (model, residency, lacks) = match &device.executor {
                #[cfg(feature = "native")]
                DeviceExecutor::Native(backend) => {
                    let (model, residency) = residency::load(
                        |residency| {
                            testgen_models::load_model(
                                model_type, checkpoint, backend, precision, residency,
                            )
                        },
                        checkpoint,
                        device,
                        precision,
                    )?;
                    (model, residency, Default::default())
                }
                // Before the load, so that the library's process is not asked for a model that it
                // cannot have.
                DeviceExecutor::Engine { process, .. } if process.only_operators() => {
                    return Err(Unsupported("models; it computes operators only".to_owned()).into());
                }
                DeviceExecutor::Engine { process, engine } => {
                    let load = engine::load;
                    let (model, lacks) = load(model_type, checkpoint, process, engine, precision)?;
                    (model, Residency::Resident, lacks)
                }
            };
            Ok(LoadedSubject::Model {
                model: Box::new(model),
                lacks,
                residency,
                load_time: start.elapsed(),
            })
        }
        (Subject::Operators { .. }, Some(checkpoint)) => Err(InitError::CheckpointOfOperators {
            directory: checkpoint.directory().to_owned(),
        }),
        (Subject::Operators { shapes }, None) => {
            operators(shapes, device, precision).map(LoadedSubject::Operators)
        }
    }
}

fn operators(
    shapes: &'static [OperatorShapes],
    device: &OpenDevice,
    precision: Precision,
) -> Result<OperatorSet, InitError> {
    let executor = match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => {
            executor(backend, device.residency.devices(), precision)?
        }
        DeviceExecutor::Engine { process, .. } => engine::operators(process, precision),
    };
    Ok(OperatorSet {
        shapes,
        precision,
        executor,
    })
}

/// The executor of calls with burn.
#[cfg(feature = "executor")]
pub(crate) fn executor(
    backend: &BackendDevice,
    devices: u16,
    precision: Precision,
) -> Result<Box<dyn Execute + Send + Sync>, InitError> {
    Ok(testgen_models::executor(backend, devices, precision))
}

/// As above, for a suite without operators.
#[cfg(all(feature = "native", not(feature = "executor")))]
pub(crate) fn executor(
    _backend: &BackendDevice,
    _devices: u16,
    _precision: Precision,
) -> Result<Box<dyn Execute + Send + Sync>, InitError> {
    Err(InitError::OperatorsNotCompiled)
}

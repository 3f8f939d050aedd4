//! Where the layers of a model are: where the engine's option says, and in their file if the device
//! cannot hold the weights.

use crate::{
    gpu_memory,
    open::{DeviceExecutor, OpenDevice},
};
use testgen_estimate::{Backend, CheckpointHeaders};
use testgen_models::{Checkpoint, LoadError, Model};
use testgen_nn::weights::Residency;
use testgen_types::{DeviceKind, Precision};

/// Loads a model on `device`, and returns where its layers are.
///
/// # Errors
///
/// Of the load; an option needs a stack of layers, and the model has none.
pub(crate) fn load(
    load: impl Fn(Residency) -> Result<Model, LoadError>,
    checkpoint: &Checkpoint,
    device: &OpenDevice,
    precision: Precision,
) -> Result<(Model, Residency), LoadError> {
    let residency = device.residency;
    // The option decides alone: falling back from it would test another residency than the one that
    // the report names.
    if residency != Residency::Resident {
        return Ok((load(residency)?, residency));
    }
    // A closure, because the CPU and engines do not need the headers of the checkpoint.
    if is_larger_than(device, || weights(checkpoint, precision)) {
        match load(Residency::Streamed) {
            // Streaming was not asked for: the error to come, of the device's memory, is the one
            // that says what to do.
            Err(LoadError::Unsupported(_)) => {}
            loaded => return Ok((loaded?, Residency::Streamed)),
        }
    }
    Ok((load(Residency::Resident)?, Residency::Resident))
}

/// Whether `weights` are more than a GPU of the native engine has room for.
fn is_larger_than(device: &OpenDevice, weights: impl FnOnce() -> Option<u64>) -> bool {
    let is_gpu = device.facts.kind != DeviceKind::Cpu;
    if !is_gpu || matches!(device.executor, DeviceExecutor::Engine { .. }) {
        return false;
    }
    let free = testgen_device::memory(&device.facts).map(|(free, _)| free);
    // The smaller of both: a test sets the limit below the memory of the device.
    let room = [free, gpu_memory::limit()].into_iter().flatten().min();
    // Only the weights are compared, because the need of a call besides them depends on its inputs.
    room.zip(weights())
        .is_some_and(|(room, weights)| weights > room)
}

/// The bytes of the weights by their headers; an error in these is reported by the load.
fn weights(checkpoint: &Checkpoint, precision: Precision) -> Option<u64> {
    let directory = checkpoint.complete_directory().ok()?;
    let headers = CheckpointHeaders::read(&directory).ok()?;
    Some(headers.weights(Backend::Gpu, precision))
}

//! The memory of a check in its report: the estimate of the weights beside what was measured, and
//! the highest of the check.

use super::outcome::CheckEvidence;
use crate::{memory, open::OpenDevice};
use testgen_estimate::{Backend, CheckpointHeaders};
use testgen_models::Checkpoint;
use testgen_types::{DeviceKind, Precision};

/// Adds the weights that are expected from the headers of the checkpoint to the memory of the first
/// load.
pub(in crate::check) fn add_estimate(
    evidence: &mut CheckEvidence,
    checkpoint: &Checkpoint,
    (device, precision): (DeviceKind, Precision),
) {
    if let Some(memory) = evidence
        .memory
        .as_mut()
        .filter(|memory| memory.estimated_weights.is_none())
    {
        // None for a checkpoint without an estimate, which is not a failure.
        let directory = checkpoint.complete_directory().ok();
        let estimated = directory.and_then(|it| CheckpointHeaders::read(&it).ok());
        let backend = match device {
            DeviceKind::Cpu => Backend::Host,
            DeviceKind::Cuda | DeviceKind::Rocm => Backend::Gpu,
        };
        memory.estimated_weights = estimated.map(|it| it.weights(backend, precision));
    }
}

/// Replaces the peak after the first load by the peak of the whole check, which may have begun
/// another measurement after it, and the bytes of the driver by the most that were seen.
pub(in crate::check) fn replace_peak(evidence: &mut CheckEvidence, device: Option<&OpenDevice>) {
    let (Some(memory), Some(device)) = (&mut evidence.memory, device) else {
        return;
    };
    let highest = memory::highest(device);
    memory.peak = highest.peak.max(memory.peak);
    memory.driver = highest.driver.max(memory.driver);
}

//! The peak memory of a check in its report.

use super::outcome::Evidence;
use crate::{memory, open::OpenDevice};

/// Replaces the peak of the first load by that of the whole check.
pub(super) fn replace_peak(evidence: &mut Evidence, device: Option<&OpenDevice>) {
    let peak = device.and_then(memory::peak);
    if let Some(memory) = &mut evidence.memory {
        memory.peak = peak.or(memory.peak);
    }
}

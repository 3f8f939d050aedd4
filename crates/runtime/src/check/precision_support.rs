//! Whether a device can compute in a precision, measured on the device itself.
//!
//! A module of its own, because two sides need it: `half_probe` reports the result, and every other check must distinguish
//! a precision that the hardware lacks (ignored) from a model that does not load (failed).

use crate::{
    detect,
    engine::CheckEngine,
    open::open_with,
    probe::{HalfSupport, PrecisionProbe, probe_half_precision},
};
use testgen_device::DeviceIndex;
use testgen_types::{DeviceKind, Precision};

/// Probes `precision` on the device of `kind`; none where it is not probed, as f32, and where the device cannot be opened.
pub(super) fn probe(
    engine: &CheckEngine,
    kind: DeviceKind,
    index: DeviceIndex,
    precision: Precision,
) -> Option<PrecisionProbe> {
    let device = open_with(engine, detect(kind, index).ok()?).ok()?;
    probe_half_precision(&device).of(precision)
}

/// Why the device of `kind` cannot compute in `precision` at all; none if it can, or if that is unknown.
///
/// A device that computes in the precision but wrongly is not unsupported: that is a failure, which must be seen.
pub(super) fn unsupported(
    engine: &CheckEngine,
    kind: DeviceKind,
    index: DeviceIndex,
    precision: Precision,
) -> Option<String> {
    let probe = probe(engine, kind, index, precision)?;
    match &probe.support {
        HalfSupport::Unsupported { .. } | HalfSupport::StorageOnly { .. } => Some(probe.to_string()),
        HalfSupport::Correct | HalfSupport::Wrong { .. } => None,
    }
}

//! `half_probe`: what the half precision of this device really computes, measured against f64.
//!
//! A type that the device does not have is ignored; one that it computes wrongly fails.

use super::{Examination, Found, Stop, examination::absent};
use crate::{HalfSupport, PrecisionProbe, Status, detect, open, probe_half_precision};
use testgen_contract::{DeviceKind, Precision};
use testgen_device::DeviceIndex;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let (kind, precision) = (exam.registration.device, exam.registration.precision);
    let checkpoint = exam.context.checkpoint.clone();
    let endpoint = exam.endpoint(&checkpoint, precision);
    if let Status::Fallback { why, .. } = endpoint.status() {
        return Err(absent(exam.context.requirements, kind, why));
    }
    let probe = probe(kind, exam.context.index, precision);
    let probe = probe.ok_or_else(|| Stop::Fail(format!("the device could not be probed: {}", endpoint.status())))?;
    judge(&probe)?;
    if endpoint.status().is_mock() {
        return Err(Stop::Fail(format!("{probe}, and yet the endpoint is {}", endpoint.status())));
    }
    Ok(Some(probe.to_string()))
}

fn judge(probe: &PrecisionProbe) -> Result<(), Stop> {
    match &probe.support {
        HalfSupport::Correct => Ok(()),
        HalfSupport::Unsupported { .. } | HalfSupport::StorageOnly { .. } => Err(Stop::Ignored(probe.to_string())),
        HalfSupport::Wrong { .. } => Err(Stop::Fail(probe.to_string())),
    }
}

/// The verdict on a precision of the device of `kind`; none for f32, and where there is no such device.
fn probe(kind: DeviceKind, index: DeviceIndex, precision: Precision) -> Option<PrecisionProbe> {
    let device = open(detect(kind, index).ok()?).ok()?;
    probe_half_precision(&device).of(precision).cloned()
}

/// Why the device of `kind` cannot compute in `precision` at all; none when it can, or when that is not known.
pub(super) fn unsupported(kind: DeviceKind, index: DeviceIndex, precision: Precision) -> Option<String> {
    let probe = probe(kind, index, precision)?;
    match &probe.support {
        HalfSupport::Unsupported { .. } | HalfSupport::StorageOnly { .. } => Some(probe.to_string()),
        HalfSupport::Correct | HalfSupport::Wrong { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(support: HalfSupport) -> Result<(), Stop> {
        judge(&PrecisionProbe {
            precision: Precision::Bf16,
            support,
            accumulator: None,
            denormals: None,
            rounding: None,
            cast_rounding: None,
            product_error: None,
            product_tolerance: None,
            product_rel_l2: None,
        })
    }

    #[test]
    fn only_correct_arithmetic_passes() {
        let why = || "seven instead of eight".to_owned();
        assert_eq!(judged(HalfSupport::Correct), Ok(()));
        assert!(matches!(judged(HalfSupport::Wrong { what: why() }), Err(Stop::Fail(told)) if told.contains("seven")));
        assert!(matches!(judged(HalfSupport::Unsupported { why: why() }), Err(Stop::Ignored(_))));
        assert!(matches!(judged(HalfSupport::StorageOnly { why: why() }), Err(Stop::Ignored(_))));
    }
}

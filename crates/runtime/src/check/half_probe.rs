//! `half_probe`: the half precision arithmetic of the device, or its TF32, is correct, measured
//! against f64.
//!
//! A type that the device lacks is ignored; a type that it computes wrongly fails.

use super::run::{Abort, CheckResult, CheckRun, absent_device};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    endpoint::Status,
    probe::{HalfSupport, PrecisionProbe},
};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::HalfPrecisionRefused,
    "half precision is refused",
    "but the endpoint is",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let (kind, precision) = (run.registration.device, run.registration.precision);
    // Not `subject_under_test`: if the device computes wrongly, the endpoint is a mock, and the
    // facts of the probe say more than its reason.
    let endpoint = run.endpoint(run.context.checkpoint.as_ref(), precision);
    // First, because a probe of the CPU would say nothing about the absent device.
    if let Status::Fallback { why, .. } = endpoint.status() {
        return Err(absent_device(run.context.requirements, kind, why));
    }
    let Some(probe) = run.probe(precision) else {
        return Err(Abort::Fail(format!(
            "the device could not be probed; the endpoint is {}",
            endpoint.status()
        )));
    };
    // Before the evaluation, so that a failure is reported with the matrix unit that computed it.
    run.evidence.matrix_unit.clone_from(&probe.matrix_unit);
    evaluate(&probe)?;
    // A harness that refuses a precision which the probe proved correct would hide every check in
    // that precision.
    if endpoint.status().is_mock() {
        return Err(Abort::Fail(format!(
            "{probe}, but the endpoint is {}",
            endpoint.status()
        )));
    }
    Ok(Some(probe.to_string()))
}

fn evaluate(probe: &PrecisionProbe) -> Result<(), Abort> {
    match &probe.support {
        HalfSupport::Correct => Ok(()),
        HalfSupport::Unsupported { .. } | HalfSupport::StorageOnly { .. } => {
            Err(Abort::Skip(probe.to_string()))
        }
        HalfSupport::Wrong { .. } => Err(Abort::Fail(probe.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testgen_types::Precision;

    fn evaluated(support: HalfSupport) -> Result<(), Abort> {
        evaluate(&PrecisionProbe::without_facts(Precision::Bf16, support))
    }

    #[test]
    fn only_correct_arithmetic_passes() {
        let why = || "seven instead of eight".to_owned();
        assert_eq!(evaluated(HalfSupport::Correct), Ok(()));
        assert!(
            matches!(evaluated(HalfSupport::Wrong { what: why() }), Err(Abort::Fail(reason)) if reason.contains("seven"))
        );
        assert!(matches!(
            evaluated(HalfSupport::Unsupported { why: why() }),
            Err(Abort::Skip(_))
        ));
        assert!(matches!(
            evaluated(HalfSupport::StorageOnly { why: why() }),
            Err(Abort::Skip(_))
        ));
    }
}

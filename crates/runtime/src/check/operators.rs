//! The checks of operators. Without the feature `operators` they are not compiled, and fail where a suite has them.

#[cfg(feature = "operators")]
mod algorithms;
#[cfg(feature = "operators")]
mod calls;
#[cfg(feature = "operators")]
mod compared;
#[cfg(feature = "operators")]
mod evidence;
#[cfg(feature = "operators")]
mod failed;
#[cfg(feature = "operators")]
mod recorded_calls;
#[cfg(feature = "operators")]
mod repeated;
#[cfg(feature = "operators")]
mod stress;
#[cfg(feature = "operators")]
mod under_test;
#[cfg(feature = "operators")]
mod unsupported;

use super::{
    check_run::CheckRun,
    outcome::{Abort, CheckResult},
};
use testgen_types::Check;

/// A check of operators.
type Implementation = fn(&mut CheckRun<'_>) -> CheckResult;

/// The check as operators have it; none where that of models serves both.
#[cfg(feature = "operators")]
pub(super) fn implementation(check: Check) -> Option<Implementation> {
    match check {
        Check::Forward => Some(compared::forward),
        Check::Shapes => Some(compared::shapes),
        Check::SpecialValues => Some(compared::special_values),
        Check::Integers => Some(compared::integers),
        Check::Relations => Some(repeated::relations),
        Check::Stress => Some(stress::check),
        Check::Determinism => Some(repeated::determinism),
        Check::Placement => Some(repeated::placement),
        Check::MemoryReleased => Some(repeated::memory_released),
        _ => None,
    }
}

/// As above, for a suite without operators.
#[cfg(not(feature = "operators"))]
pub(super) fn implementation(check: Check) -> Option<Implementation> {
    fn not_compiled(_run: &mut CheckRun<'_>) -> CheckResult {
        Err(Abort::Fail(crate::load_target::InitError::OperatorsNotCompiled.to_string()))
    }
    // Fallbacks, mocks, requirements and the probe are those of models.
    let of_models =
        matches!(check, Check::FallbackMarked | Check::MockMarked | Check::RequireHonoured | Check::HalfProbe);
    (!of_models).then_some(not_compiled)
}

/// A check of operators that a harness has for a model, which no template does.
pub(super) fn of_model(run: &mut CheckRun<'_>) -> CheckResult {
    Err(Abort::Fail(format!("`{}` is a check of operators, not of a model", run.registration.check)))
}

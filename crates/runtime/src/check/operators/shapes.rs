//! `shapes`: odd sizes in every layout, compared with the reference element by element.

use super::{
    super::run::{CheckResult, CheckRun},
    calls::compared::compare,
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use testgen_operators::cases::shape_cases;

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::StridesIgnored,
    "the strides of inputs are ignored",
    "reversed strides",
);

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    compare(run, |shapes, element| shape_cases(shapes.operator, element))
}

//! `special_values`: NaN, infinities, zeros, subnormal and the largest numbers, compared with the
//! reference.

use super::{
    super::run::{CheckResult, CheckRun},
    calls::compared::compare,
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use testgen_operators::cases::special_cases;

#[cfg(test)]
pub(in crate::check) const FAULT: Detected =
    Detected::new(Fault::NotANumberLost, "NaN becomes 0", "expected NaN");

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    compare(run, |shapes, element| {
        special_cases(shapes.operator, element)
    })
}

//! `integers`: integers and booleans, compared exactly.

use super::{
    super::run::{CheckResult, CheckRun},
    calls::compared::compare_in,
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use crate::subject::OperatorShapes;
use testgen_operators::{
    calls::Element,
    cases::{Arithmetic, integer_cases},
};

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::OutputOff,
    "one element of each output off by 1 %",
    "elements are wrong",
);

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    compare_in(
        run,
        |shapes: &OperatorShapes, _| integer_cases(shapes.operator),
        // In every precision, which only concerns floats.
        |_| Arithmetic::exact(Element::I32),
    )
}

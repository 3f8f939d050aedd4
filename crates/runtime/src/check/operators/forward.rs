//! `forward`: operators on the shapes of the spec, compared with the reference element by element.

use super::{
    super::run::{Abort, CheckResult, CheckRun},
    calls::{algorithms, cases, compared::compare},
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::OutputOff,
    "one element of each output off by 1 %",
    "elements are wrong",
);

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    // Both are run before either can fail: a wrong case says nothing about the algorithms.
    match (compare(run, cases::of_shapes), algorithms::compared(run)) {
        (Err(Abort::Fail(cases)), Err(Abort::Fail(algorithms))) => {
            Err(Abort::Fail(format!("{cases}\n{algorithms}")))
        }
        (cases, algorithms) => {
            let parts = [cases?, algorithms?];
            Ok(Some(
                parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
            ))
        }
    }
}

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
    together(compare(run, cases::of_shapes), algorithms::compared(run))
}

/// The result of both parts.
fn together(cases: CheckResult, algorithms: CheckResult) -> CheckResult {
    match (cases, algorithms) {
        (Err(Abort::Fail(cases)), Err(Abort::Fail(algorithms))) => {
            Err(Abort::Fail(format!("{cases}\n{algorithms}")))
        }
        // A failure of one part is not hidden by what the other does not support.
        (_, Err(failure @ Abort::Fail(_))) => Err(failure),
        (cases, algorithms) => {
            let parts = [cases?, algorithms?];
            Ok(Some(
                parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_either_part_is_reported() {
        let fail = |reason: &str| Err(Abort::Fail(reason.to_owned()));
        let skip = || Err(Abort::Skip("no f16".to_owned()));
        let pass = |summary: &str| Ok(Some(summary.to_owned()));
        assert_eq!(together(skip(), fail("b")), fail("b"));
        assert_eq!(together(fail("a"), skip()), fail("a"));
        assert_eq!(together(fail("a"), fail("b")), fail("a\nb"));
        assert_eq!(together(skip(), Ok(None)), skip());
        assert_eq!(together(pass("a"), pass("b")), pass("a; b"));
    }
}

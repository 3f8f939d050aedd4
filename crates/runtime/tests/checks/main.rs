//! The checks on fixtures, which pass without a fault and fail with one, and the test binary of a
//! suite.
//!
//! With `TESTGEN_TEST_AS_SUITE` this binary behaves like a generated suite; the tests of `suite`
//! start it that way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;
mod faults;
#[expect(
    dead_code,
    reason = "two test binaries share it, and each needs a part"
)]
mod fixture;
mod harnesses;
#[expect(
    dead_code,
    reason = "two test binaries share it, and each needs a part"
)]
mod requests;
mod suite;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Ok(which) = std::env::var(suite::AS_SUITE) {
        return testgen_runtime::suite::main(&suite::harnesses(&which), env!("CARGO_MANIFEST_DIR"));
    }
    let tests = [
        engines::TESTS,
        engines::operators::TESTS,
        faults::TESTS,
        suite::TESTS,
    ]
    .concat();
    let trials = tests.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// A test's name and its body, which panics when it fails.
pub(crate) type Test = (&'static str, fn());

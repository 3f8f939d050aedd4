//! `attention_paths`: every implementation of attention that an engine has computes the same
//! outputs.

#[cfg(test)]
use super::tests::faulty::Detected;
use super::{
    comparison::implementations,
    run::{CheckResult, CheckRun},
};
use testgen_engine::Computation;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::ON_ENGINES;

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    implementations::compare_all(run, Computation::Attention)
}

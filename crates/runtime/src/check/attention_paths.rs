//! `attention_paths`: every implementation of attention that an engine has computes the same outputs.

use super::{check_run::CheckRun, implementations, outcome::CheckResult};
use testgen_engine::Computation;

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    implementations::compare_all(run, Computation::Attention)
}

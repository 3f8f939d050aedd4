//! `expert_paths`: every implementation of experts that an engine has computes the same outputs: one expert after another, and all at
//! once.

use super::{check_run::CheckRun, implementations, outcome::CheckResult};
use testgen_engine::Computation;

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    implementations::compare_all(run, Computation::Experts)
}

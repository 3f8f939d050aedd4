//! `load_keys_exact`: the model reads every tensor of the checkpoint, in the shape that the configuration implies.
//!
//! A missing, renamed or transposed tensor makes the load itself fail, and the check with it, with the name of the tensor.

use super::{
    check_run::CheckRun,
    outcome::{Abort, CheckResult},
};

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let tested = run.model_under_test()?;
    let tensors = tested.model().tensors();
    if !tensors.unused.is_empty() {
        let (count, names) = (tensors.unused.len(), tensors.unused.join("`, `"));
        return Err(Abort::Fail(format!("{count} tensors of the checkpoint were never read: `{names}`")));
    }
    if tensors.read.is_empty() {
        return Err(Abort::Fail("no tensor of the checkpoint was read".to_owned()));
    }
    Ok(Some(format!("{} tensors read", tensors.read.len())))
}

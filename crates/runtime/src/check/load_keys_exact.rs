//! `load_keys_exact`: the model reads every tensor of the checkpoint, in the shape that the
//! configuration implies.
//!
//! Every value of a tensor that is read is finite, whether a recorded input touches it or not.
//!
//! A missing, renamed or transposed tensor makes the load itself fail, and the check with it, with
//! the name of the tensor.

use super::run::{Abort, CheckResult, CheckRun};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use testgen_nn::weights;
use testgen_types::excerpt;

/// The number of unread tensors that are named.
const NAMED: usize = 20;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::TensorNotRead,
    "one tensor more in the checkpoint",
    "were never read",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let tested = run.subject_under_test()?;
    let tensors = tested.model().tensors();
    if !tensors.unused.is_empty() {
        // A checkpoint of another class can have thousands.
        let named = tensors.unused.iter().take(NAMED).map(|name| excerpt(name));
        let (count, names) = (tensors.unused.len(), named.collect::<Vec<_>>().join("`, `"));
        return Err(Abort::Fail(format!(
            "{count} tensors of the checkpoint were never read: `{names}`"
        )));
    }
    // An engine that lists no tensor must not pass.
    if tensors.read.is_empty() {
        return Err(Abort::Fail(
            "no tensor of the checkpoint was read".to_owned(),
        ));
    }
    let directory = run.checkpoint().complete_directory()?;
    let not_finite = weights::not_finite(&directory, &tensors.read)?;
    if let Some((name, index)) = not_finite {
        return Err(Abort::Fail(format!(
            "tensor `{}` has a value that is not finite at index {index}",
            excerpt(&name)
        )));
    }
    let saved = tested.model().config();
    let named = ["architectures", "_class_name"]
        .iter()
        .any(|field| saved.get(*field).is_some_and(|name| !name.is_null()));
    // A warning and not a failure: the class of the golden was loaded in its place.
    let warning = if named {
        ""
    } else {
        "; config.json names no class in `architectures`"
    };
    Ok(Some(format!(
        "{} tensors read{warning}",
        tensors.read.len()
    )))
}

//! `memory_released`: the memory in use returns to its previous value after the model, or the
//! operators, are dropped.
//!
//! The first load fills the caches of kernels and of the allocator, which remain. Memory before and
//! after a second load, run and drop must be equal. The suite runs no other check at the same time.

use super::run::{Abort, CheckResult, CheckRun, SubjectUnderTest};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    memory::{DeviceMemory, cleanup, memory},
    open::OpenDevice,
};

/// Bytes that may remain whatever the size of the model: log lines, hash maps that have grown.
const SLACK: u64 = 64 * 1024;
/// A hundredth of the model may remain: the allocator rounds up the sizes of its blocks.
const PART: u64 = 100;

#[cfg(test)]
pub(super) const FAULT: Detected =
    Detected::new(Fault::ModelKept, "the model remains in memory", "1099");

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    released(run, |_, tested| {
        tested.model().forward(&golden.main().inputs)?;
        Ok(())
    })
}

/// Memory returns to its value after `compute` has used what was loaded, and dropped it.
pub(super) fn released(
    run: &mut CheckRun<'_>,
    compute: impl Fn(&CheckRun<'_>, &SubjectUnderTest) -> Result<(), Abort>,
) -> CheckResult {
    // Not measured: see the top of this file.
    let (device, _) = load_and_drop(run, &compute)?;
    let before = settled(&device);
    let (device, loaded) = load_and_drop(run, &compute)?;
    let after = settled(&device);
    let (Some(before), Some(loaded), Some(after)) = (before.in_use, loaded.in_use, after.in_use)
    else {
        return Err(Abort::Skip(
            "the device does not report the memory in use".to_owned(),
        ));
    };
    evaluate(before, loaded, after)
        .map_err(Abort::Fail)
        .map(Some)
}

/// Loads, runs and drops the model or the operators. Returns the device, and its memory while they
/// were loaded.
fn load_and_drop(
    run: &mut CheckRun<'_>,
    compute: &impl Fn(&CheckRun<'_>, &SubjectUnderTest) -> Result<(), Abort>,
) -> Result<(OpenDevice, DeviceMemory), Abort> {
    let tested = run.subject_under_test()?;
    let Some(device) = tested.endpoint().open_device().cloned() else {
        return Err(Abort::Fail("the endpoint names no device".to_owned()));
    };
    // Before the measurement: buffers of a forward pass belong to what must be released.
    compute(run, &tested)?;
    let loaded = memory(&device);
    Ok((device, loaded))
}

fn settled(device: &OpenDevice) -> DeviceMemory {
    cleanup(device);
    memory(device)
}

fn evaluate(before: u64, loaded: u64, after: u64) -> Result<String, String> {
    let model = loaded.saturating_sub(before);
    // Less in use than before is not a leak.
    let left = after.saturating_sub(before);
    let allowed = SLACK.max(model / PART);
    let usage = format!(
        "{before} bytes in use before, {loaded} with the model, {after} after it was dropped"
    );
    if left <= allowed {
        Ok(usage)
    } else {
        Err(format!(
            "{left} bytes were not released, more than the allowed {allowed}: {usage}"
        ))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::evaluate;

    #[test]
    fn a_model_that_remains_is_a_failure() {
        assert!(evaluate(1_000_000, 9_000_000, 1_000_000).is_ok());
        assert!(evaluate(1_000_000, 9_000_000, 900_000).is_ok());
        assert!(evaluate(1_000_000, 9_000_000, 1_070_000).is_ok());
        assert!(
            evaluate(1_000_000, 9_000_000, 1_090_000)
                .unwrap_err()
                .contains("90000")
        );
        assert!(evaluate(1_000_000, 9_000_000, 9_000_000).is_err());
    }
}

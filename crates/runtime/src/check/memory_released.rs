//! `memory_released`: the memory in use returns to its previous value after the model, or the
//! operators, are dropped.
//!
//! The first load fills the caches of kernels and of the allocator, which remain. Memory before and
//! after a second load, run and drop must be equal, and must have risen in between: a counter that
//! does not count would return to its value as well. The suite runs no other check at the same time.

use super::run::{Abort, CheckResult, CheckRun, SubjectUnderTest};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    memory::{self, DeviceMemory, begin_peak, cleanup, memory},
    open::OpenDevice,
};
use testgen_types::DeviceKind;

/// Bytes that may remain whatever the size of the model.
// Log lines stay, and hash maps that have grown.
const SLACK: u64 = 64 * 1024;
/// A hundredth of the model may remain.
// The allocator rounds up the sizes of its blocks.
const PART: u64 = 100;

#[cfg(test)]
pub(super) const FAULT: Detected =
    Detected::new(Fault::ModelKept, "the model remains in memory", "1099");

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    released(run, |_, tested| {
        Ok(tested.model().forward(&golden.main().inputs)?)
    })
}

/// Memory returns to its value after `compute` has used what was loaded, and dropped it. The
/// results of `compute` are dropped after the memory is read.
pub(super) fn released<T>(
    run: &mut CheckRun<'_>,
    compute: impl Fn(&CheckRun<'_>, &SubjectUnderTest) -> Result<T, Abort>,
) -> CheckResult {
    // Not measured: see the top of this file.
    let (mut device, _) = load_and_drop(run, &compute)?;
    let before = settled(&device);
    let highest;
    // In the place of the first one: the facts of both would count as a leak of a kilobyte.
    (device, highest) = load_and_drop(run, &compute)?;
    let after = settled(&device);
    let (Some(before), Some(highest), Some(after)) = (before.in_use, highest, after.in_use) else {
        return Err(Abort::Skip(
            "the device does not report the memory in use".to_owned(),
        ));
    };
    ReleasedMemory {
        before,
        highest,
        after,
    }
    .evaluate()
}

/// Loads, runs and drops the model or the operators. Returns the device, and the most memory in use
/// while they were loaded.
fn load_and_drop<T>(
    run: &mut CheckRun<'_>,
    compute: &impl Fn(&CheckRun<'_>, &SubjectUnderTest) -> Result<T, Abort>,
) -> Result<(OpenDevice, Option<u64>), Abort> {
    // The peak of this load alone, not of an earlier check.
    begin_peak();
    let tested = run.subject_under_test()?;
    let Some(device) = tested.endpoint().open_device().cloned() else {
        return Err(Abort::Fail("the endpoint names no device".to_owned()));
    };
    // Before the measurement: buffers of a forward pass belong to what must be released.
    let results = compute(run, &tested)?;
    let highest = highest(&device, memory(&device));
    drop(results);
    Ok((device, highest))
}

/// The most memory in use since [`begin_peak`]. The peak of the host is of the whole process.
fn highest(device: &OpenDevice, now: DeviceMemory) -> Option<u64> {
    let peak = (device.facts.kind != DeviceKind::Cpu)
        .then(|| memory::peak(device))
        .flatten();
    // Operators leave nothing on a GPU, so only the peak shows that their memory is counted.
    now.in_use.map(|in_use| peak.unwrap_or(0).max(in_use))
}

fn settled(device: &OpenDevice) -> DeviceMemory {
    // Unused blocks of the allocator count as memory in use until they are returned.
    cleanup(device);
    memory(device)
}

/// Bytes in use before a load, the most after it, and after the drop.
struct ReleasedMemory {
    before: u64,
    highest: u64,
    after: u64,
}

impl ReleasedMemory {
    fn evaluate(&self) -> CheckResult {
        let Self {
            before,
            highest,
            after,
        } = *self;
        let usage = format!(
            "{before} bytes in use before, {highest} with the model, {after} after it was dropped"
        );
        let risen = highest.saturating_sub(before);
        if risen == 0 {
            return Err(Abort::Skip(format!(
                "the memory of the device did not rise while the model was loaded, so a release would not show: {usage}"
            )));
        }
        // Less in use than before is not a leak.
        let left = after.saturating_sub(before);
        // At most half, because the slack is more than whole models and operators use.
        let allowed = SLACK.max(risen / PART).min(risen / 2);
        if left <= allowed {
            return Ok(Some(usage));
        }
        Err(Abort::Fail(format!(
            "{left} bytes were not released, more than the allowed {allowed}: {usage}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::run::Abort, CheckResult, ReleasedMemory};

    fn evaluate(before: u64, highest: u64, after: u64) -> CheckResult {
        ReleasedMemory {
            before,
            highest,
            after,
        }
        .evaluate()
    }

    #[test]
    fn a_model_that_remains_is_a_failure() {
        assert!(evaluate(1_000_000, 9_000_000, 1_000_000).is_ok());
        assert!(evaluate(1_000_000, 9_000_000, 900_000).is_ok());
        assert!(evaluate(1_000_000, 9_000_000, 1_070_000).is_ok());
        let kept = evaluate(1_000_000, 9_000_000, 1_090_000);
        assert!(matches!(kept, Err(Abort::Fail(reason)) if reason.starts_with("90000 bytes")));
        assert!(evaluate(1_000_000, 9_000_000, 9_000_000).is_err());
    }

    #[test]
    fn a_model_that_is_smaller_than_the_slack_must_be_released_too() {
        assert!(evaluate(500, 10_500, 5_500).is_ok());
        let kept = evaluate(500, 10_500, 5_501);
        assert!(
            matches!(&kept, Err(Abort::Fail(reason)) if reason.contains("the allowed 5000")),
            "{kept:?}"
        );
        assert!(matches!(evaluate(0, 1, 1), Err(Abort::Fail(_))));
    }

    #[test]
    fn a_counter_that_does_not_count_shows_no_release() {
        for (before, highest) in [(0, 0), (4_096, 4_096), (4_096, 0)] {
            let found = evaluate(before, highest, before);
            assert!(
                matches!(&found, Err(Abort::Skip(reason)) if reason.starts_with("the memory of the device did not rise")),
                "{found:?}"
            );
        }
    }
}

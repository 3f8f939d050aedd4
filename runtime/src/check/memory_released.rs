//! `memory_released`: memory in use returns to where it was once the model is dropped.
//!
//! The first load is a warm-up: caches of kernels and of the allocator stay, rightly. Then in-use memory after one more
//! load, run and drop is compared with that before it. The suite lets no other check run meanwhile.

use super::{Examination, Found, Stop};
use crate::{
    golden::Golden,
    memory::{Memory, cleanup, memory},
    open::OpenDevice,
};

/// Bytes that may stay whatever the model's size: log lines, hash maps that grew.
const SLACK: u64 = 64 * 1024;
/// The part of the model that may stay, as a divisor.
const PART: u64 = 100;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let (device, _) = load_and_drop(exam, &golden)?;
    let before = settled(&device);
    let (device, loaded) = load_and_drop(exam, &golden)?;
    let after = settled(&device);
    let (Some(before), Some(loaded), Some(after)) = (before.in_use, loaded.in_use, after.in_use) else {
        return Err(Stop::Ignored("the device keeps no account of the memory in use".to_owned()));
    };
    judge(before, loaded, after).map_err(Stop::Fail).map(Some)
}

/// Loads, runs and drops the model; gives the device, and its memory while the model was there.
fn load_and_drop(exam: &mut Examination<'_>, golden: &Golden) -> Result<(OpenDevice, Memory), Stop> {
    let subject = exam.subject()?;
    let Some(device) = subject.endpoint().open_device().cloned() else {
        return Err(Stop::Fail("the endpoint names no device".to_owned()));
    };
    subject.model().forward(&golden.main().inputs)?;
    let loaded = memory(&device);
    Ok((device, loaded))
}

fn settled(device: &OpenDevice) -> Memory {
    cleanup(device);
    memory(device)
}

fn judge(before: u64, loaded: u64, after: u64) -> Result<String, String> {
    let model = loaded.saturating_sub(before);
    let left = after.saturating_sub(before);
    let allowed = SLACK.max(model / PART);
    let told = format!("{before} bytes in use before, {loaded} with the model, {after} after it was dropped");
    if left <= allowed {
        Ok(told)
    } else {
        Err(format!("{left} bytes were not released, allowed are {allowed}: {told}"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::judge;

    #[test]
    fn a_model_that_stays_is_a_failure() {
        assert!(judge(1_000_000, 9_000_000, 1_000_000).is_ok());
        assert!(judge(1_000_000, 9_000_000, 900_000).is_ok());
        assert!(judge(1_000_000, 9_000_000, 1_070_000).is_ok());
        assert!(judge(1_000_000, 9_000_000, 1_090_000).unwrap_err().contains("90000"));
        assert!(judge(1_000_000, 9_000_000, 9_000_000).is_err());
    }
}

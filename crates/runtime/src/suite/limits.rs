//! Checks that are ignored because of an estimate: the time of a check above the limit of its spec,
//! and weights that an engine has no memory for.
//!
//! Does not own: the memory of the native engine, which streams the layers of such a model.

use super::environment::Environment;
use crate::{earlier_times::EarlierCheck, harness::Harness};
use testgen_engine::EngineName;
use testgen_estimate::{Backend, CheckpointHeaders};
use testgen_types::{DeviceKind, Precision, Registration};

/// A check that is expected to take longer than its spec allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OverLimit {
    /// The time that the earlier report has of it.
    pub(super) milliseconds: f64,
    limit_seconds: u64,
}

impl OverLimit {
    /// Of the check with the name `test` on a device of `kind`. `None` without a limit or an
    /// earlier time, and for a time within the limit.
    pub(super) fn find(
        environment: &Environment,
        harness: &Harness,
        (test, kind): (String, DeviceKind),
    ) -> Option<Self> {
        let limit_seconds = harness.spec.limit_seconds?;
        let check = EarlierCheck {
            test,
            device_index: environment.devices.index(kind).chosen(),
        };
        let milliseconds = environment.earlier.milliseconds(&check)?;
        (milliseconds > limit_seconds as f64 * 1e3).then_some(Self {
            milliseconds,
            limit_seconds,
        })
    }

    /// Why the check is ignored.
    pub(super) fn reason(self) -> String {
        let Self {
            milliseconds,
            limit_seconds,
        } = self;
        format!(
            "it is expected to take {:.0} s, its time in the earlier report; the limit of the spec is {limit_seconds} s. \
             A higher limit, or another `--report`, runs it again",
            milliseconds / 1e3
        )
    }
}

/// Why an engine cannot hold the weights of a model, by the headers of its checkpoint and the free
/// memory of the device; an error in the headers is reported by the load.
pub(super) fn too_large(
    environment: &Environment,
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
) -> Option<String> {
    // The native engine streams the layers of such a model.
    if engine.is_native() {
        return None;
    }
    let Registration {
        device, precision, ..
    } = registration;
    let free = environment.devices.free_memory(device, engine)?;
    let checkpoint = harness.spec.subject.checkpoint(&environment.base)?;
    let directory = checkpoint.complete_directory().ok()?;
    let headers = CheckpointHeaders::read(&directory).ok()?;
    let needed = headers.weights(Backend::Gpu, precision);
    does_not_fit(harness.spec.name, (device, precision), needed, free)
}

fn does_not_fit(
    name: &str,
    (device, precision): (DeviceKind, Precision),
    needed: u64,
    free: u64,
) -> Option<String> {
    let [needed_mib, free_mib] = [needed, free].map(|bytes| bytes >> 20);
    (needed > free).then(|| {
        format!(
            "the weights of `{name}` need {needed_mib} MiB in {precision} by estimate, {device} has {free_mib} MiB free"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{OverLimit, does_not_fit};
    use testgen_types::{DeviceKind, Precision};

    #[test]
    fn weights_above_the_free_memory_are_named_with_both() {
        let on = (DeviceKind::Cuda, Precision::Bf16);
        assert_eq!(does_not_fit("llama", on, 3 << 30, 3 << 30), None);
        assert_eq!(
            does_not_fit("llama", on, (3 << 30) + 1, 3 << 30).as_deref(),
            Some(
                "the weights of `llama` need 3072 MiB in bf16 by estimate, cuda has 3072 MiB free"
            )
        );
    }

    #[test]
    fn the_reason_has_the_expected_time_and_the_limit() {
        let over = OverLimit {
            milliseconds: 812_400.0,
            limit_seconds: 600,
        };
        assert!(
            over.reason().starts_with(
                "it is expected to take 812 s, its time in the earlier report; the limit of the spec is 600 s."
            ),
            "{}",
            over.reason()
        );
    }
}

//! The time limit of the first kernel of a device.

use std::time::Duration;

/// The variable with the time limit for the first kernel of a device in seconds; 120 by default.
const OPEN_TIMEOUT_VARIABLE: &str = "TESTGEN_OPEN_TIMEOUT";

/// The limit of this process.
pub(super) fn time_limit() -> Duration {
    read(std::env::var(OPEN_TIMEOUT_VARIABLE).ok().as_deref())
}

fn read(value: Option<&str>) -> Duration {
    let seconds = value
        .and_then(|value| value.trim().parse().ok())
        // No device answers within 0 seconds, so that the value cannot be meant.
        .filter(|seconds| *seconds > 0);
    Duration::from_secs(seconds.unwrap_or(120))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_is_a_positive_number_of_seconds() {
        assert_eq!(read(Some("7")), Duration::from_secs(7));
        for invalid in [None, Some(""), Some("0"), Some("-1"), Some("soon")] {
            assert_eq!(read(invalid), Duration::from_secs(120), "{invalid:?}");
        }
    }
}

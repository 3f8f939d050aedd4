//! `TESTGEN_STRESS` and `TESTGEN_SOAK`: whether the check `stress` runs, and how long it repeats
//! its cases.

use std::time::Duration;

/// The variable that requests the check, with any value.
const STRESS_VARIABLE: &str = "TESTGEN_STRESS";
/// The variable with the seconds for which each stress check repeats its cases after their first
/// run.
const SOAK_VARIABLE: &str = "TESTGEN_SOAK";

/// Whether the check `stress` runs, and how long it repeats its cases.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct StressRequest {
    requested: bool,
    soak: Option<Duration>,
}

impl StressRequest {
    /// The request in the environment.
    ///
    /// # Errors
    ///
    /// When `TESTGEN_SOAK` is not a number of seconds.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let requested = std::env::var_os(STRESS_VARIABLE).is_some();
        let soak = std::env::var(SOAK_VARIABLE)
            .ok()
            .map(|text| seconds(&text))
            .transpose()?;
        Ok(Self { requested, soak })
    }

    /// Whether the check runs.
    pub(crate) fn is_requested(self) -> bool {
        self.requested
    }

    /// How long each check repeats its cases, or `None` without a request.
    #[cfg_attr(
        not(feature = "operators"),
        expect(dead_code, reason = "only the check of operators reads it")
    )]
    pub(crate) fn soak(self) -> Option<Duration> {
        self.soak
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim().parse::<f64>().ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| format!("{SOAK_VARIABLE} is `{text}`, not a number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::{Duration, seconds};

    #[test]
    fn a_time_is_a_number_of_seconds() {
        assert_eq!(seconds(" 1.5 "), Ok(Duration::from_millis(1500)));
        for text in ["", "10m", "-1", "NaN", "inf", "1e300"] {
            assert!(
                seconds(text).is_err_and(|error| error.contains("TESTGEN_SOAK")),
                "{text}"
            );
        }
    }
}

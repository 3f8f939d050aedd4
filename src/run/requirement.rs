//! Devices that must be there: `--require` on the command line, `TESTGEN_REQUIRE` for the suite.

use std::{fmt, num::NonZeroU32, str::FromStr};
use testgen_contract::{DeviceKind, Record, RecordStatus, UnknownWord};

/// One device that must really run: `cpu`, `cuda`, `rocm`, `cuda:2` for at least two of them, `rocm-sim` for a simulated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The kind of device.
    pub device: DeviceKind,
    /// Whether a simulation is asked for; without it a simulation does not count.
    pub simulated: bool,
    /// How many of them.
    pub count: NonZeroU32,
}

/// A requirement that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RequirementError {
    /// The device is none.
    #[error(transparent)]
    Device(#[from] UnknownWord),
    /// What follows the colon is no count.
    #[error("`{0}` is not a number of devices from 1 on")]
    Count(String),
}

impl Requirement {
    /// Whether `records` show that such a device computed at least one number, and that it was right.
    ///
    /// The count is the suite's to judge: a record names one device.
    pub fn is_shown_by(&self, records: &[Record]) -> bool {
        records.iter().any(|record| {
            record.device == self.device
                && record.status == RecordStatus::Pass
                && record.check.is_numeric()
                && record.simulated == self.simulated
                && !record.fallback
                && !record.mock
        })
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (device, count) = text.split_once(':').unwrap_or((text, "1"));
        let (device, simulated) = match device.strip_suffix("-sim") {
            Some(device) => (device, true),
            None => (device, false),
        };
        let count = count.parse().map_err(|_| RequirementError::Count(count.to_owned()))?;
        Ok(Self { device: device.parse()?, simulated, count })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let simulated = if self.simulated { "-sim" } else { "" };
        write!(f, "{}{simulated}", self.device)?;
        if self.count.get() == 1 { Ok(()) } else { write!(f, ":{}", self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::parse_lines;

    #[test]
    fn written_and_read_forms_are_the_same() {
        for text in ["cpu", "cuda", "rocm", "cuda:2", "rocm-sim", "rocm-sim:4"] {
            assert_eq!(text.parse::<Requirement>().map(|requirement| requirement.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "gpu", "cuda:0", "cuda:x", "cuda:", "rocm-simulated"] {
            assert!(text.parse::<Requirement>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_numeric_pass_on_such_a_device_shows_it() {
        let record = |check: &str, status: &str, simulated: bool| {
            parse_lines(&format!(
                r#"{{"version":1,"model":"bert","architecture":"encoder_only","device":"rocm","check":"{check}","precision":"f32","status":"{status}","simulated":{simulated},"device_name":"gfx1100","milliseconds":1}}"#
            ))
            .records
        };
        let shown = |text: &str, records: &[Record]| {
            text.parse::<Requirement>().expect("is a requirement").is_shown_by(records)
        };
        assert!(shown("rocm", &record("finite", "pass", false)));
        assert!(!shown("cuda", &record("finite", "pass", false)));
        assert!(!shown("rocm", &record("finite", "pass", true)));
        assert!(shown("rocm-sim", &record("finite", "pass", true)));
        assert!(!shown("rocm-sim", &record("finite", "pass", false)));
        assert!(!shown("rocm", &record("finite", "fail", false)));
        assert!(!shown("rocm", &record("mock_marked", "pass", false)));
    }
}

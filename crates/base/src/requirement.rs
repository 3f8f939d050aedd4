//! Required devices: `--require` on the command line, `TESTGEN_REQUIRE` for the suite.

use std::{fmt, num::NonZeroU32, str::FromStr};
use testgen_types::{DeviceKind, EntryStatus, ReportEntry, UnknownName};

/// A device that must compute: `cpu`, `cuda`, `rocm`, `cuda:2` for at least two of them, `rocm-sim`
/// for a simulated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The kind of device.
    pub device: DeviceKind,
    /// Requires a simulation of the device; otherwise a simulation does not count.
    pub simulated: bool,
    /// The number of such devices.
    pub count: NonZeroU32,
}

/// An invalid requirement.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RequirementError {
    /// Unknown device.
    #[error(transparent)]
    Device(#[from] UnknownName),
    /// The text after the colon is not a count.
    #[error("`{0}` is not a number of devices from 1 on")]
    Count(String),
}

impl Requirement {
    /// Whether a numeric check passed on such a device.
    ///
    /// The count is not tested here but by the suite, because an entry names one device.
    pub fn is_met_by(&self, entries: &[ReportEntry]) -> bool {
        entries.iter().any(|entry| {
            entry.device == self.device
                && entry.status == EntryStatus::Pass
                && entry.check.is_numeric()
                && entry.simulated == self.simulated
                && !entry.fallback
                && !entry.mock
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
        let count = count
            .parse()
            .map_err(|_| RequirementError::Count(count.to_owned()))?;
        Ok(Self {
            device: device.parse()?,
            simulated,
            count,
        })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let simulated = if self.simulated { "-sim" } else { "" };
        write!(f, "{}{simulated}", self.device)?;
        if self.count.get() == 1 {
            Ok(())
        } else {
            write!(f, ":{}", self.count)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_lines::parse_json_lines;

    #[test]
    fn written_and_read_forms_are_the_same() {
        for text in ["cpu", "cuda", "rocm", "cuda:2", "rocm-sim", "rocm-sim:4"] {
            assert_eq!(
                text.parse::<Requirement>()
                    .map(|requirement| requirement.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["", "gpu", "cuda:0", "cuda:x", "cuda:", "rocm-simulated"] {
            assert!(text.parse::<Requirement>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_numeric_pass_on_such_a_device_meets_it() {
        let entries = |check: &str, status: &str, simulated: bool| {
            let line = format!(
                r#"{{"version":1,"model":"bert","architecture":"encoder_only","device":"rocm","check":"{check}","precision":"f32","status":"{status}","simulated":{simulated},"device_name":"gfx1100","milliseconds":1}}"#
            );
            parse_json_lines(&line, ReportEntry::VERSION).0
        };
        let met = |text: &str, entries: &[ReportEntry]| {
            text.parse::<Requirement>()
                .expect("is a requirement")
                .is_met_by(entries)
        };
        assert!(met("rocm", &entries("finite", "pass", false)));
        assert!(!met("cuda", &entries("finite", "pass", false)));
        assert!(!met("rocm", &entries("finite", "pass", true)));
        assert!(met("rocm-sim", &entries("finite", "pass", true)));
        assert!(!met("rocm-sim", &entries("finite", "pass", false)));
        assert!(!met("rocm", &entries("finite", "fail", false)));
        assert!(!met("rocm", &entries("mock_marked", "pass", false)));
    }
}

//! Required devices: `--require` on the command line, `TESTGEN_REQUIRE` for the suite.

use crate::{
    closed_enum::UnknownName,
    device_kind::DeviceKind,
    report_entry::{EntryStatus, ReportEntry},
};
use std::{fmt, num::NonZeroU32, str::FromStr};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementError {
    problem: String,
}

impl fmt::Display for RequirementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; write a comma list of cpu, cuda, rocm, rocm:2 (a count), rocm-sim (simulated)",
            self.problem
        )
    }
}

impl std::error::Error for RequirementError {}

impl From<UnknownName> for RequirementError {
    fn from(unknown: UnknownName) -> Self {
        Self::new(unknown.to_string())
    }
}

impl RequirementError {
    fn new(problem: String) -> Self {
        Self { problem }
    }
}

impl Requirement {
    /// Whether a numeric check that compared outputs passed on such a device. Others, as a load or a
    /// check without cases, say nothing about numbers of the device.
    ///
    /// The count is not tested here but by the suite, because an entry names one device.
    pub fn is_met_by(&self, entries: &[ReportEntry]) -> bool {
        entries.iter().any(|entry| {
            entry.device == self.device
                && entry.status == EntryStatus::Pass
                && entry.check.is_numeric()
                && entry.has_compared()
                // A simulation shows nothing about hardware, and hardware nothing about the
                // simulation.
                && entry.simulated == self.simulated
                && !entry.fallback
                && !entry.mock
        })
    }

    /// Confirms that a suite can have all of `requirements`: at most one of each kind of device.
    ///
    /// # Errors
    ///
    /// Two are of one kind.
    pub fn confirm_distinct(requirements: &[Self]) -> Result<(), RequirementError> {
        let mut rest = requirements;
        while let [first, others @ ..] = rest {
            if others.iter().any(|other| other.device == first.device) {
                let problem = format!("`{}` is required twice", first.device);
                return Err(RequirementError::new(problem));
            }
            rest = others;
        }
        Ok(())
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // The count is last, also of a simulation: `rocm-sim:2`.
        let (device, count) = text.split_once(':').unwrap_or((text, "1"));
        let (device, simulated) = match device.strip_suffix("-sim") {
            Some(device) => (device, true),
            None => (device, false),
        };
        let count: NonZeroU32 = count
            .parse()
            .map_err(|_| RequirementError::new(format!("`{text}` has no positive count")))?;
        let device: DeviceKind = device.parse()?;
        // There is one host processor for a suite, and it is never simulated.
        if device == DeviceKind::Cpu && (simulated || count.get() > 1) {
            let problem = format!("`{text}`: cpu takes neither a count nor `-sim`");
            return Err(RequirementError::new(problem));
        }
        Ok(Self {
            device,
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

    #[test]
    fn written_and_read_forms_are_the_same() {
        for text in ["cpu", "cuda", "rocm", "cuda:2", "rocm-sim", "rocm-sim:4"] {
            assert_eq!(
                text.parse::<Requirement>()
                    .map(|requirement| requirement.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn an_invalid_one_is_an_error_that_lists_the_valid_forms() {
        for text in [
            "",
            "gpu",
            "cuda:0",
            "cuda:x",
            "cuda:",
            "rocm-simulated",
            "cpu:2",
            "cpu-sim",
        ] {
            let error = text.parse::<Requirement>().expect_err(text).to_string();
            assert!(error.contains("rocm:2 (a count)"), "{text}: {error}");
        }
    }

    #[test]
    fn a_kind_cannot_be_required_twice() {
        let confirmed = |texts: &[&str]| {
            let parsed = texts.iter().map(|text| text.parse().expect("is valid"));
            Requirement::confirm_distinct(&parsed.collect::<Vec<_>>())
        };
        assert_eq!(confirmed(&["rocm", "cpu", "cuda:2"]), Ok(()));
        let error = confirmed(&["cpu", "rocm", "rocm-sim"]).expect_err("is twice the same kind");
        assert!(error.to_string().contains("`rocm` is required twice"));
    }

    #[test]
    fn only_a_numeric_pass_on_such_a_device_meets_it() {
        let entries = |check: &str, status: &str, simulated: bool| {
            let output = r#"{"name":"logits","rel_l2":0,"max_rel":0,"rel_l2_threshold":1,"max_rel_threshold":1,"headroom":9}"#;
            // A pass that compared nothing, as of `integers` for operators without such cases.
            let outputs = if check == "integers" { "" } else { output };
            let line = format!(
                r#"{{"version":1,"model":"bert","architecture":"encoder_only","device":"rocm","check":"{check}","precision":"f32","status":"{status}","simulated":{simulated},"device_name":"gfx1100","outputs":[{outputs}],"milliseconds":1}}"#
            );
            [serde_json::from_str(&line).expect("is an entry")]
        };
        let met = |text: &str, entries: &[ReportEntry]| {
            text.parse::<Requirement>()
                .expect("is a requirement")
                .is_met_by(entries)
        };
        assert!(met("rocm", &entries("output_golden", "pass", false)));
        assert!(!met("rocm", &entries("integers", "pass", false)));
        assert!(!met("cuda", &entries("output_golden", "pass", false)));
        assert!(!met("rocm", &entries("output_golden", "pass", true)));
        assert!(met("rocm-sim", &entries("output_golden", "pass", true)));
        assert!(!met("rocm-sim", &entries("output_golden", "pass", false)));
        assert!(!met("rocm", &entries("output_golden", "fail", false)));
        assert!(!met("rocm", &entries("mock_marked", "pass", false)));
    }
}

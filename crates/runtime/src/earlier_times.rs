//! `TESTGEN_EARLIER`: an earlier report, whose times are the expected times of the checks.

use std::{collections::HashMap, path::Path};
use testgen_types::{
    ReportEntry,
    bounded_file::{limit, read_text},
};

/// The variable that names the report.
const EARLIER_VARIABLE: &str = "TESTGEN_EARLIER";

/// A check on a device.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct EarlierCheck {
    /// The name of its test.
    pub(crate) test: String,
    /// The index of the device, if it was selected.
    pub(crate) device_index: Option<u32>,
}

/// The times of checks in an earlier report.
#[derive(Debug, Default)]
pub(crate) struct EarlierTimes(HashMap<EarlierCheck, f64>);

impl EarlierTimes {
    /// Of the report that the environment names; empty without one.
    pub(crate) fn from_environment() -> Self {
        match std::env::var_os(EARLIER_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => {
                let text = read_text(Path::new(&path), limit::REPORT);
                // A damaged report must not stop the run that replaces it.
                Self::parse(&text.unwrap_or_default())
            }
            None => Self::default(),
        }
    }

    /// The time of a check, if the report has one.
    pub(crate) fn milliseconds(&self, check: &EarlierCheck) -> Option<f64> {
        self.0.get(check).copied()
    }

    /// Lines that are not records have no time: `testgen run` reports them.
    fn parse(text: &str) -> Self {
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str::<ReportEntry>(line).ok());
        let times = entries.filter_map(|entry| {
            // A check that did not run has the time that was expected of it, or none.
            let ran = entry.device_name.as_ref().map(|_| entry.milliseconds);
            let milliseconds = entry.expected_milliseconds.or(ran)?;
            let check = EarlierCheck {
                test: entry.test_name(),
                device_index: entry.device_index,
            };
            Some((check, milliseconds))
        });
        // A report is appended to, so the last of several entries of a check is the latest and
        // remains.
        Self(times.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{EarlierCheck, EarlierTimes};

    #[test]
    fn a_check_that_was_ignored_keeps_its_expected_time() {
        let line = |check: &str, rest: &str| {
            format!(
                r#"{{"version":1,"model":"bert","architecture":"encoder_only","device":"cpu","check":"{check}","precision":"f32","status":"ignored",{rest}"milliseconds":7}}"#
            )
        };
        let ran = line("finite", r#""device_name":"host","#);
        let ignored = line("placement", r#""expected_milliseconds":9000,"#);
        let absent = line("determinism", "");
        let text = [ran.as_str(), "no record", &ignored, &absent].join("\n");
        let times = EarlierTimes::parse(&text);
        let of = |check: &str, device_index| {
            times.milliseconds(&EarlierCheck {
                test: format!("encoder_only::bert::cpu::{check}"),
                device_index,
            })
        };
        assert_eq!(of("finite_f32", None), Some(7.0));
        assert_eq!(of("finite_f32", Some(1)), None);
        assert_eq!(of("placement_f32", None), Some(9000.0));
        assert_eq!(of("determinism_f32", None), None);
    }
}

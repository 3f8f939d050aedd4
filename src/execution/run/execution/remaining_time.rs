//! The expected end of a run, from the times of its checks in an earlier report.

use crate::results::read::{parse_lines, read_report};
use std::{collections::HashMap, path::Path, time::Duration};
use testgen_base::progress::time_left;
use testgen_types::ReportEntry;

/// The work of a run, in milliseconds of an earlier report.
// Checks run at the same time, so only shares of it are meaningful.
#[derive(Debug)]
pub(super) struct RemainingTime {
    by_test: HashMap<String, f64>,
    /// The work of a check that the earlier report does not have.
    usual: f64,
    all: f64,
    done: f64,
}

impl RemainingTime {
    /// Of `tests`.
    pub(super) fn new<'t>(tests: impl Iterator<Item = &'t String>, earlier: &Path) -> Self {
        // A report that is missing or cannot be read has no times: every check is then as long as
        // another.
        let text = read_report(earlier).unwrap_or_default();
        Self::of_entries(tests, &parse_lines(&text).entries)
    }

    fn of_entries<'t>(tests: impl Iterator<Item = &'t String>, earlier: &[ReportEntry]) -> Self {
        let times = earlier
            .iter()
            .map(|entry| (entry.test_name(), entry.milliseconds));
        let by_test: HashMap<String, f64> = times.collect();
        let mean = by_test.values().sum::<f64>() / by_test.len() as f64;
        // Without any time every check counts as much as another.
        let usual = if mean > 0.0 { mean } else { 1.0 };
        let mut time = Self {
            by_test,
            usual,
            all: 0.0,
            done: 0.0,
        };
        time.all = tests.map(|test| time.work(test)).sum();
        time
    }

    /// Counts a check that ended.
    pub(super) fn end(&mut self, test: &str) {
        self.done += self.work(test);
    }

    /// The expected time until the last check ends, `elapsed` after the first began; `None` before
    /// one has ended.
    pub(super) fn left(&self, elapsed: Duration) -> Option<Duration> {
        time_left(self.done / self.all, elapsed)
    }

    fn work(&self, test: &str) -> f64 {
        self.by_test.get(test).copied().unwrap_or(self.usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that is left of tests `a` to `d` after ten seconds and the ends of `ended`.
    fn left(earlier: &[(&str, f64)], ended: &[&str]) -> Option<u64> {
        let lines = earlier.iter().map(|(model, milliseconds)| {
            format!(
                r#"{{"version":1,"model":"{model}","architecture":"encoder_only","device":"cpu","check":"finite","precision":"f32","status":"pass","device_name":"host","milliseconds":{milliseconds}}}"#
            )
        });
        let lines = parse_lines(&lines.collect::<Vec<_>>().join("\n"));
        assert!(lines.problems.is_empty(), "{:?}", lines.problems);
        let test = |model: &str| format!("encoder_only::{model}::cpu::finite_f32");
        let tests = ["a", "b", "c", "d"].map(test);
        let mut time = RemainingTime::of_entries(tests.iter(), &lines.entries);
        ended.iter().for_each(|model| time.end(&test(model)));
        time.left(Duration::from_secs(10))
            .map(|left| left.as_secs())
    }

    #[test]
    fn without_an_earlier_report_checks_are_counted() {
        assert_eq!(left(&[], &[]), None);
        assert_eq!(left(&[], &["a"]), Some(30));
        assert_eq!(left(&[], &["a", "b", "c", "d"]), Some(0));
    }

    #[test]
    fn checks_have_the_shares_of_an_earlier_report() {
        let earlier = [("a", 900.0), ("b", 50.0), ("c", 50.0), ("d", 0.0)];
        assert_eq!(left(&earlier, &["b"]), Some(190));
        assert_eq!(left(&earlier, &["a"]), Some(1));
        // A check that the report does not have is as long as the mean.
        assert_eq!(left(&[("a", 30.0), ("b", 10.0)], &["a", "b"]), Some(10));
    }
}

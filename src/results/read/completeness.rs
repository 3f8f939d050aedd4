//! Completeness of a report: an entry for every test, no unknown tests, and no pass that
//! contradicts itself.

use super::ReportProblem;
use std::collections::{BTreeMap, BTreeSet};
use testgen_types::{EntryStatus, ReportEntry};

/// Compares `entries` with the tests of the suite: `listed` contains all of them, `selected` the
/// ones that had to run.
///
/// Returns every problem once, in a stable order. Entries of listed tests that were not selected
/// are accepted.
pub fn find_problems(
    entries: &[ReportEntry],
    listed: &BTreeSet<String>,
    selected: &BTreeSet<String>,
) -> Vec<ReportProblem> {
    let mut problems = Vec::new();
    // Without this, an empty report would be complete.
    if selected.is_empty() {
        problems.push(ReportProblem::NoTests);
    }
    let counts = count(entries);
    let missing = selected.iter().filter(|test| !counts.contains_key(*test));
    problems.extend(missing.map(|test| ReportProblem::MissingEntry { test: test.clone() }));
    for (test, count) in &counts {
        if !listed.contains(test) {
            problems.push(ReportProblem::UnknownEntry { test: test.clone() });
        } else if *count > 1 {
            // The second result of a test in one run could hide that the first failed.
            problems.push(ReportProblem::RepeatedEntry { test: test.clone() });
        }
    }
    problems.extend(entries.iter().filter_map(contradiction));
    problems
}

fn count(entries: &[ReportEntry]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in entries {
        *counts.entry(entry.test_name()).or_default() += 1;
    }
    counts
}

/// A pass that its own fields contradict, or a failed or ignored entry without a reason.
pub(super) fn contradiction(entry: &ReportEntry) -> Option<ReportProblem> {
    let test = entry.test_name();
    match entry.status {
        EntryStatus::Pass => {
            impossible_pass(entry).map(|why| ReportProblem::FalsePass { test, why })
        }
        EntryStatus::Fail | EntryStatus::Ignored => match entry.reason.as_deref().map(str::trim) {
            None | Some("") => Some(ReportProblem::MissingReason { test }),
            Some(_) => None,
        },
    }
}

/// Why a numeric check cannot have passed: it must have run on the device that it names, within its
/// thresholds.
pub(super) fn impossible_pass(entry: &ReportEntry) -> Option<String> {
    // The other checks test mocks and fallbacks themselves.
    if !entry.check.is_numeric() {
        return None;
    }
    let outside = entry.outputs.iter().find(|output| output.is_outside());
    // From the cause to its effects: a mock names no device either.
    if entry.mock {
        Some("its endpoint was a mock".to_owned())
    } else if entry.fallback {
        Some("its endpoint was a fallback to another device".to_owned())
    } else if entry.device_name.is_none() {
        Some("it names no device that ran".to_owned())
    } else {
        outside.map(|output| format!("`{}` is outside its threshold", output.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::read::parse_lines;

    fn entry(check: &str, status: &str, rest: &str) -> ReportEntry {
        let line = format!(
            r#"{{"version":1,"model":"bert","architecture":"encoder_only","device":"rocm","check":"{check}","precision":"f32","status":"{status}",{rest}"milliseconds":1}}"#
        );
        let mut lines = parse_lines(&line);
        assert!(lines.problems.is_empty(), "{:?}", lines.problems);
        lines.entries.remove(0)
    }

    fn kinds(entries: &[ReportEntry], listed: &[&str], selected: &[&str]) -> Vec<&'static str> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        find_problems(entries, &set(listed), &set(selected))
            .iter()
            .map(ReportProblem::kind)
            .collect()
    }

    const FINITE: &str = "encoder_only::bert::rocm::finite_f32";
    const MARKED: &str = "encoder_only::bert::rocm::mock_marked";
    const NAMED: &str = r#""device_name":"AMD Instinct MI300X","#;

    #[test]
    fn a_complete_report_has_no_problem() {
        let entries = [
            entry("finite", "pass", NAMED),
            entry("mock_marked", "pass", r#""mock":true,"#),
        ];
        assert_eq!(
            kinds(&entries, &[FINITE, MARKED], &[FINITE, MARKED]),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn missing_unknown_repeated_and_no_entries_are_problems() {
        let finite = entry("finite", "pass", NAMED);
        assert_eq!(kinds(&[], &[FINITE], &[FINITE]), ["missing_entry"]);
        assert_eq!(kinds(&[], &[FINITE], &[]), ["no_tests"]);
        assert_eq!(
            kinds(std::slice::from_ref(&finite), &[MARKED], &[MARKED]),
            ["missing_entry", "unknown_entry"]
        );
        assert_eq!(
            kinds(&[finite.clone(), finite], &[FINITE], &[FINITE]),
            ["repeated_entry"]
        );
    }

    #[test]
    fn entries_of_listed_tests_that_were_not_selected_are_accepted() {
        let entries = [
            entry("finite", "pass", NAMED),
            entry("mock_marked", "ignored", r#""reason":"absent","#),
        ];
        assert_eq!(
            kinds(&entries, &[FINITE, MARKED], &[FINITE]),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn a_numeric_pass_needs_a_real_device_within_its_threshold() {
        let output = |error: f64, headroom: f64| {
            format!(
                r#"{NAMED}"outputs":[{{"name":"logits","rel_l2":{error},"max_rel":0.1,"rel_l2_threshold":0.2,"max_rel_threshold":0.2,"headroom":{headroom}}}],"#
            )
        };
        for rest in [
            String::new(),
            format!(r#"{NAMED}"mock":true,"#),
            format!(r#"{NAMED}"fallback":true,"#),
            output(0.3, 1.0),
            // One element of an operator beyond its bound hardly changes the error of the tensor.
            output(0.1, 0.9),
        ] {
            assert_eq!(
                kinds(&[entry("finite", "pass", &rest)], &[FINITE], &[FINITE]),
                ["false_pass"],
                "{rest}"
            );
        }
        assert_eq!(
            kinds(
                &[entry("finite", "pass", &output(0.2, 1.0))],
                &[FINITE],
                &[FINITE]
            ),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn entries_that_did_not_pass_need_a_reason() {
        assert_eq!(
            kinds(&[entry("finite", "fail", "")], &[FINITE], &[FINITE]),
            ["missing_reason"]
        );
        assert_eq!(
            kinds(
                &[entry("finite", "ignored", r#""reason":" ","#)],
                &[FINITE],
                &[FINITE]
            ),
            ["missing_reason"]
        );
    }
}

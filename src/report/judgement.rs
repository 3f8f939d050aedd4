//! Whether a report may be believed: complete, without strangers, and without passes that cannot be.

use super::Problem;
use std::collections::{BTreeMap, BTreeSet};
use testgen_contract::{Record, RecordStatus};

/// Compares `records` with the tests of the suite: `listed` are all of them, `selected` those that had to run.
///
/// Returns every problem, each once, in a stable order. Records of listed tests that were not selected are no problem.
pub fn judge(records: &[Record], listed: &BTreeSet<String>, selected: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if selected.is_empty() {
        problems.push(Problem::NoTests);
    }
    let counts = count(records);
    let missing = selected.iter().filter(|test| !counts.contains_key(*test));
    problems.extend(missing.map(|test| Problem::WithoutRecord { test: test.clone() }));
    for (test, count) in &counts {
        if !listed.contains(test) {
            problems.push(Problem::Unknown { test: test.clone() });
        } else if *count > 1 {
            problems.push(Problem::Repeated { test: test.clone() });
        }
    }
    problems.extend(records.iter().filter_map(contradiction));
    problems
}

fn count(records: &[Record]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record.test_name()).or_default() += 1;
    }
    counts
}

pub(super) fn contradiction(record: &Record) -> Option<Problem> {
    let test = record.test_name();
    match record.status {
        RecordStatus::Pass => impossible_pass(record).map(|why| Problem::FalsePass { test, why }),
        RecordStatus::Fail | RecordStatus::Ignored => match record.reason.as_deref().map(str::trim) {
            None | Some("") => Some(Problem::WithoutReason { test }),
            Some(_) => None,
        },
    }
}

/// Why this pass is none: a numeric check must have run, on the device it names, within its threshold.
pub(super) fn impossible_pass(record: &Record) -> Option<String> {
    if !record.check.is_numeric() {
        return None;
    }
    let far_off = record.outputs.iter().find(|output| {
        !within(output.rel_l2, output.rel_l2_threshold) || !within(output.max_rel, output.max_rel_threshold)
    });
    if record.mock {
        Some("its endpoint was a mock".to_owned())
    } else if record.fallback {
        Some("its endpoint was a fallback to another device".to_owned())
    } else if record.device_name.is_none() {
        Some("it names no device that ran".to_owned())
    } else {
        far_off.map(|output| format!("`{}` is outside its threshold", output.name))
    }
}

/// False for NaN on either side.
fn within(error: f64, threshold: f64) -> bool {
    error <= threshold
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::parse_lines;

    fn record(check: &str, status: &str, rest: &str) -> Record {
        let line = format!(
            r#"{{"version":1,"model":"bert","architecture":"encoder_only","device":"rocm","check":"{check}","precision":"f32","status":"{status}",{rest}"milliseconds":1}}"#
        );
        let mut lines = parse_lines(&line);
        assert!(lines.problems.is_empty(), "{:?}", lines.problems);
        lines.records.remove(0)
    }

    fn kinds(records: &[Record], listed: &[&str], selected: &[&str]) -> Vec<&'static str> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        judge(records, &set(listed), &set(selected)).iter().map(Problem::kind).collect()
    }

    const FINITE: &str = "encoder_only::bert::rocm::finite_f32";
    const MARKED: &str = "encoder_only::bert::rocm::mock_marked";
    const NAMED: &str = r#""device_name":"AMD Instinct MI300X","#;

    #[test]
    fn a_complete_report_has_no_problem() {
        let records = [record("finite", "pass", NAMED), record("mock_marked", "pass", r#""mock":true,"#)];
        assert_eq!(kinds(&records, &[FINITE, MARKED], &[FINITE, MARKED]), Vec::<&str>::new());
    }

    #[test]
    fn missing_unknown_repeated_and_none_are_problems() {
        let finite = record("finite", "pass", NAMED);
        assert_eq!(kinds(&[], &[FINITE], &[FINITE]), ["without_record"]);
        assert_eq!(kinds(&[], &[FINITE], &[]), ["no_tests"]);
        assert_eq!(kinds(std::slice::from_ref(&finite), &[MARKED], &[MARKED]), ["without_record", "unknown_record"]);
        assert_eq!(kinds(&[finite.clone(), finite], &[FINITE], &[FINITE]), ["repeated_record"]);
    }

    #[test]
    fn a_record_of_a_listed_test_that_was_not_selected_is_no_problem() {
        let records = [record("finite", "pass", NAMED), record("mock_marked", "ignored", r#""reason":"absent","#)];
        assert_eq!(kinds(&records, &[FINITE, MARKED], &[FINITE]), Vec::<&str>::new());
    }

    #[test]
    fn a_numeric_pass_needs_a_real_device_within_its_threshold() {
        let output = |error: &str| {
            format!(
                r#"{NAMED}"outputs":[{{"name":"logits","rel_l2":{error},"max_rel":0.1,"rel_l2_threshold":0.2,"max_rel_threshold":0.2,"headroom":1.0}}],"#
            )
        };
        for rest in
            [String::new(), format!(r#"{NAMED}"mock":true,"#), format!(r#"{NAMED}"fallback":true,"#), output("0.3")]
        {
            assert_eq!(kinds(&[record("finite", "pass", &rest)], &[FINITE], &[FINITE]), ["false_pass"], "{rest}");
        }
        assert_eq!(kinds(&[record("finite", "pass", &output("0.2"))], &[FINITE], &[FINITE]), Vec::<&str>::new());
    }

    #[test]
    fn what_did_not_pass_says_why() {
        assert_eq!(kinds(&[record("finite", "fail", "")], &[FINITE], &[FINITE]), ["without_reason"]);
        assert_eq!(kinds(&[record("finite", "ignored", r#""reason":" ","#)], &[FINITE], &[FINITE]), ["without_reason"]);
    }
}

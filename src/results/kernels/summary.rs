//! The entries of a report, counted by device, kernel and precision.

use super::lines::KernelLines;
use serde::Serialize;
use std::collections::BTreeMap;
use testgen_types::{KernelEntry, KernelOutcome, Precision};

/// A report, counted.
#[derive(Debug, Serialize)]
pub struct KernelSummary {
    /// The version of the JSON form.
    pub version: u32,
    /// Whether there are entries, each can be read, and every kernel that the rule chooses is
    /// correct.
    pub green: bool,
    /// One row for each device, kernel and precision.
    pub rows: Vec<KernelRow>,
    /// The entries on which checks depend and that are not correct.
    pub failures: Vec<KernelEntry>,
    /// Problems of the report itself.
    pub problems: Vec<String>,
}

/// One kernel in one precision on one device.
#[derive(Debug, Serialize)]
pub struct KernelRow {
    /// The device's name, marked if it is a simulation.
    pub device: String,
    /// The kernel, by the library's own name.
    pub kernel: String,
    /// How it computes.
    pub precision: Precision,
    /// Products for which the rule chooses it.
    pub chosen: usize,
    /// Products by outcome; outcomes that did not occur are absent.
    pub counts: BTreeMap<KernelOutcome, usize>,
    /// The least bound / error of the products that are correct or wrong; absent if all of them are
    /// exact.
    pub headroom: Option<f64>,
    /// The first product of each outcome other than correct, of wrong ones that with the least
    /// headroom.
    pub examples: Vec<KernelExample>,
}

/// A product for which a kernel is not correct.
#[derive(Debug, Serialize)]
pub struct KernelExample {
    /// The outcome.
    pub outcome: KernelOutcome,
    /// The product in short.
    pub product: String,
    /// A model that computes it, with the check; or the layout that none has.
    pub origin: String,
    /// Why it is not correct.
    pub reason: String,
}

impl KernelSummary {
    /// The version of the JSON form.
    pub const VERSION: u32 = 1;

    /// Counts the entries of a report; `problem` is a problem of the run.
    pub fn new(lines: KernelLines, problem: Option<String>) -> Self {
        let KernelLines {
            entries,
            mut problems,
        } = lines;
        problems.extend(problem);
        // A report without entries has no failures either, and would be green.
        if entries.is_empty() {
            problems.push("nothing was computed".to_owned());
        }
        let mut groups: BTreeMap<(String, &str, Precision), Vec<&KernelEntry>> = BTreeMap::new();
        for entry in &entries {
            groups
                .entry((device(entry), &entry.kernel, entry.precision))
                .or_default()
                .push(entry);
        }
        let rows = groups
            .into_iter()
            .map(|((device, kernel, precision), entries)| KernelRow {
                device,
                kernel: kernel.to_owned(),
                precision,
                chosen: entries.iter().filter(|entry| entry.chosen).count(),
                counts: counts(&entries),
                headroom: entries
                    .iter()
                    .filter_map(|entry| entry.headroom)
                    .min_by(f64::total_cmp),
                examples: examples(&entries),
            });
        let rows: Vec<KernelRow> = rows.collect();
        let failures: Vec<KernelEntry> = entries
            .into_iter()
            .filter(KernelEntry::is_failure)
            .collect();
        Self {
            version: Self::VERSION,
            green: failures.is_empty() && problems.is_empty(),
            rows,
            failures,
            problems,
        }
    }
}

fn device(entry: &KernelEntry) -> String {
    let mark = if entry.simulated { ", simulated" } else { "" };
    format!("{} ({}{mark})", entry.device_name, entry.device)
}

fn counts(entries: &[&KernelEntry]) -> BTreeMap<KernelOutcome, usize> {
    let mut counts = BTreeMap::new();
    for entry in entries {
        *counts.entry(entry.outcome).or_default() += 1;
    }
    counts
}

fn examples(entries: &[&KernelEntry]) -> Vec<KernelExample> {
    let mut worst: BTreeMap<KernelOutcome, &KernelEntry> = BTreeMap::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.outcome != KernelOutcome::Correct)
    {
        let known = worst.entry(entry.outcome).or_insert(entry);
        // Outcomes other than wrong have no headroom, so that their first product stays.
        if entry.headroom.unwrap_or(0.0) < known.headroom.unwrap_or(0.0) {
            *known = entry;
        }
    }
    worst.into_values().map(example).collect()
}

fn example(entry: &KernelEntry) -> KernelExample {
    let layout = if entry.one_head {
        ", laid out as a single head"
    } else {
        ""
    };
    KernelExample {
        outcome: entry.outcome,
        product: entry.product(),
        origin: format!("{}, {}{layout}", entry.model, entry.check),
        reason: entry
            .reason
            .clone()
            .unwrap_or_else(|| "no reason".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelEntry, KernelLines, KernelOutcome, KernelSummary};
    use crate::results::kernels::lines::tests::entry;

    fn summary(entries: Vec<KernelEntry>) -> KernelSummary {
        KernelSummary::new(
            KernelLines {
                entries,
                problems: Vec::new(),
            },
            None,
        )
    }

    fn outcome_entry(outcome: KernelOutcome, chosen: bool) -> KernelEntry {
        KernelEntry {
            outcome,
            chosen,
            headroom: None,
            reason: Some("so".to_owned()),
            ..entry()
        }
    }

    #[test]
    fn only_an_incorrect_kernel_that_the_rule_chooses_is_a_failure() {
        use KernelOutcome::{Correct, Crashed, NotRun, Refused, Wrong};
        for outcome in [Correct, Refused, Wrong, Crashed, NotRun] {
            assert!(
                summary(vec![outcome_entry(outcome, false)]).green,
                "{outcome:?}"
            );
            let green = matches!(outcome, Correct | Refused);
            assert_eq!(
                summary(vec![outcome_entry(outcome, true)]).green,
                green,
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn a_report_without_entries_or_with_problems_is_not_green() {
        assert_eq!(summary(Vec::new()).problems, ["nothing was computed"]);
        let lines = || KernelLines {
            entries: vec![entry()],
            problems: Vec::new(),
        };
        assert!(KernelSummary::new(lines(), None).green);
        assert!(!KernelSummary::new(lines(), Some("it ended".to_owned())).green);
    }

    #[test]
    fn rows_count_outcomes_and_show_the_worst() {
        let wrong = |headroom| KernelEntry {
            headroom: Some(headroom),
            ..outcome_entry(KernelOutcome::Wrong, false)
        };
        let mut worst = wrong(0.25);
        worst.left.shape = vec![7, 4];
        let summary = summary(vec![
            entry(),
            wrong(0.5),
            worst,
            outcome_entry(KernelOutcome::Refused, false),
        ]);
        let [row] = summary.rows.as_slice() else {
            panic!("{summary:?}")
        };
        assert_eq!((row.chosen, row.headroom), (1, Some(0.25)));
        assert_eq!(row.counts[&KernelOutcome::Wrong], 2);
        assert_eq!(row.device, "simulated gfx1100 (rocm, simulated)");
        let products: Vec<&str> = row
            .examples
            .iter()
            .map(|example| example.product.as_str())
            .collect();
        assert_eq!(products, ["[7, 4] x [4, 3]", "[2, 4] x [4, 3]"]);
    }
}

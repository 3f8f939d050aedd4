//! The table of a run: a row for each model and device. With many models a row for each
//! architecture and device, and the models of which a check failed or ran elsewhere than on the
//! device.

use crate::results::read::{RanOn, Summary, SummaryRow, on_engine};
use std::collections::{BTreeMap, BTreeSet};
use testgen_base::text::{Align, Table};
use testgen_types::DeviceKind;

/// Models of a table that is read without a summary.
const MODELS_SHOWN: usize = 40;

/// A device, its index and an engine.
type TablePlace<'r> = (DeviceKind, Option<u32>, Option<&'r str>);

/// The results of the models of one architecture on one device.
#[derive(Default)]
struct ArchitectureTotals<'r> {
    models: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
    ran_on: BTreeSet<&'r RanOn>,
}

/// The table, or the two tables, each ended by a line break.
pub(super) fn tables(summary: &Summary) -> String {
    let models: BTreeSet<&str> = summary.rows.iter().map(|row| row.model.as_str()).collect();
    // A table with a row for each of hundreds of models would hide the few that failed.
    if models.len() <= MODELS_SHOWN {
        return by_model(summary.rows.iter());
    }
    let computed: BTreeSet<TablePlace<'_>> = summary
        .rows
        .iter()
        // Only columns in which something ran on the device itself: elsewhere every model has
        // nothing.
        .filter(|row| row.ran_on.iter().any(|it| !is_elsewhere(it)))
        .map(place)
        .collect();
    let notable: Vec<&SummaryRow> = summary
        .rows
        .iter()
        .filter(|row| is_notable(row, &computed))
        .collect();
    // By model: one model may have a row for each of several devices.
    let named: BTreeSet<&str> = notable.iter().map(|row| row.model.as_str()).collect();
    let mut text = by_architecture(&summary.rows);
    if !notable.is_empty() {
        text.push_str(&format!(
            "\nmodels that did not simply pass\n{}",
            by_model(notable.into_iter())
        ));
    }
    let rest = match named.len() {
        0 => format!("all {} models", models.len()),
        count => format!("the other {} models", models.len() - count),
    };
    text.push_str(&format!("\nof {rest} every check passed or was ignored\n"));
    text
}

fn by_model<'r>(rows: impl Iterator<Item = &'r SummaryRow>) -> String {
    let mut table = Table::new(&[
        ("architecture", Align::Left),
        ("model", Align::Left),
        ("device", Align::Left),
        ("passed", Align::Right),
        ("failed", Align::Right),
        ("ignored", Align::Right),
        ("numbers computed on", Align::Left),
    ]);
    for row in rows {
        let counts = [row.passed, row.failed, row.ignored].map(|count| count.to_string());
        let words = [
            row.architecture.to_string(),
            row.model.clone(),
            device(place(row)),
        ];
        table.push(
            words
                .into_iter()
                .chain(counts)
                .chain([computed_on(row.ran_on.iter())]),
        );
    }
    table.to_string()
}

fn by_architecture(rows: &[SummaryRow]) -> String {
    let mut table = Table::new(&[
        ("architecture", Align::Left),
        ("device", Align::Left),
        ("models", Align::Right),
        ("passed", Align::Right),
        ("failed", Align::Right),
        ("ignored", Align::Right),
        ("numbers computed on", Align::Left),
    ]);
    // Sorted by architecture and device, in whatever order the checks ended.
    let mut sums: BTreeMap<(&str, TablePlace<'_>), ArchitectureTotals<'_>> = BTreeMap::new();
    for row in rows {
        sums.entry((row.architecture.as_str(), place(row)))
            .or_default()
            .add(row);
    }
    for ((architecture, place), sum) in sums {
        let counts =
            [sum.models, sum.passed, sum.failed, sum.ignored].map(|count| count.to_string());
        let words = [architecture.to_owned(), device(place)];
        table.push(
            words
                .into_iter()
                .chain(counts)
                .chain([computed_on(sum.ran_on.into_iter())]),
        );
    }
    table.to_string()
}

impl<'r> ArchitectureTotals<'r> {
    fn add(&mut self, row: &'r SummaryRow) {
        self.models += 1;
        self.passed += row.passed;
        self.failed += row.failed;
        self.ignored += row.ignored;
        self.ran_on.extend(&row.ran_on);
    }
}

/// Whether a check of the row failed or ran elsewhere, or nothing ran on a device on which other
/// models did.
fn is_notable(row: &SummaryRow, computed: &BTreeSet<TablePlace<'_>>) -> bool {
    // On an absent device every model has nothing, which would list them all.
    let is_missing = row.ran_on.is_empty() && computed.contains(&place(row));
    row.failed > 0 || is_missing || row.ran_on.iter().any(is_elsewhere)
}

fn is_elsewhere(ran_on: &RanOn) -> bool {
    ran_on.fallback || ran_on.mock
}

fn place(row: &SummaryRow) -> TablePlace<'_> {
    (row.device, row.device_index, row.engine.as_deref())
}

fn device((device, index, engine): TablePlace<'_>) -> String {
    on_engine(device, index, engine)
}

fn computed_on<'r>(ran_on: impl Iterator<Item = &'r RanOn>) -> String {
    let devices: Vec<String> = ran_on.map(RanOn::describe).collect();
    if devices.is_empty() {
        "nothing".to_owned()
    } else {
        devices.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{expected_failure::ExpectedFailures, read::parse_lines};

    /// The table of `models` models, of which the first fails, the second computes nothing, and the
    /// third is a fallback on CUDA.
    fn table(models: usize) -> String {
        let line = |model: usize, device: &str, status: &str, rest: &str| {
            format!(
                r#"{{"version":1,"model":"bert_{model}","architecture":"encoder_only","device":"{device}","check":"finite","precision":"f32","status":"{status}",{rest}"milliseconds":1}}"#
            )
        };
        let lines = (0..models).flat_map(|model| {
            let cpu = match model {
                0 => line(
                    model,
                    "cpu",
                    "fail",
                    r#""device_name":"host","reason":"NaN","#,
                ),
                1 => line(model, "cpu", "ignored", r#""reason":"no class","#),
                _ => line(model, "cpu", "pass", r#""device_name":"host","#),
            };
            let fallback = r#""device_name":"host","fallback":true,"reason":"cpu","#;
            let (status, rest) = if model == 2 {
                ("fail", fallback)
            } else {
                ("ignored", r#""reason":"absent","#)
            };
            [cpu, line(model, "cuda", status, rest)]
        });
        let lines = parse_lines(&lines.collect::<Vec<_>>().join("\n"));
        assert!(lines.problems.is_empty(), "{:?}", lines.problems);
        let expected = ExpectedFailures::new(Vec::new(), "2027-01-31".parse().expect("is a date"));
        tables(&Summary::new(&lines.entries, Vec::new(), &expected))
    }

    #[test]
    fn of_many_models_those_that_did_not_simply_pass_are_shown() {
        let text = table(MODELS_SHOWN + 1);
        let mut rows = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(
            rows.next().as_deref(),
            Some("architecture device models passed failed ignored numbers computed on")
        );
        assert_eq!(
            rows.next().as_deref(),
            Some("encoder_only cpu 41 39 1 1 host")
        );
        assert_eq!(
            rows.next().as_deref(),
            Some("encoder_only cuda 41 0 1 40 host (FALLBACK)")
        );
        let shown: Vec<String> = rows.filter(|row| row.starts_with("encoder_only")).collect();
        // Nothing ran on CUDA, so that its ignored checks are ignored for an absent device.
        let expected = [
            "bert_0 cpu 0 1 0 host",
            "bert_1 cpu 0 0 1 nothing",
            "bert_2 cuda 0 1 0 host (FALLBACK)",
        ];
        assert_eq!(shown, expected.map(|row| format!("encoder_only {row}")));
        assert!(
            text.ends_with("\nof the other 38 models every check passed or was ignored\n"),
            "{text}"
        );
    }

    #[test]
    fn of_few_models_each_is_shown() {
        let text = table(MODELS_SHOWN);
        assert_eq!(text.lines().count(), 1 + 2 * MODELS_SHOWN, "{text}");
    }
}

//! Renders the counts for a terminal: a table for each device, then an example of each outcome that
//! is not correct.

use super::summary::{KernelRow, KernelSummary};
use std::fmt::Write;
use testgen_base::text::{Align, Table};
use testgen_types::{KernelEntry, KernelOutcome};

/// Failures shown; more are only counted.
const FAILURES_SHOWN: usize = 10;
/// The columns of outcomes.
const OUTCOMES: [(KernelOutcome, &str); 5] = [
    (KernelOutcome::Correct, "correct"),
    (KernelOutcome::Wrong, "wrong"),
    (KernelOutcome::Refused, "refused"),
    (KernelOutcome::Crashed, "crashed"),
    (KernelOutcome::NotRun, "not run"),
];

/// The whole summary; its last line is the result.
pub fn render_kernels(summary: &KernelSummary) -> String {
    let mut text = String::new();
    // The rows are sorted by device.
    for rows in summary.rows.chunk_by(|a, b| a.device == b.device) {
        let _ = writeln!(text, "{}\n{}", rows[0].device, table(rows));
    }
    let examples: String = summary.rows.iter().map(examples).collect();
    if !examples.is_empty() {
        let _ = writeln!(text, "not correct\n{examples}");
    }
    if !summary.failures.is_empty() {
        text.push_str("failed: the rule chooses these kernels\n");
        text.extend(summary.failures.iter().take(FAILURES_SHOWN).map(failure));
        text.push('\n');
    }
    for problem in &summary.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    text.push_str(&result(summary));
    text
}

fn table(rows: &[KernelRow]) -> Table {
    let mut columns = vec![
        ("kernel", Align::Left),
        ("precision", Align::Left),
        ("chosen", Align::Right),
    ];
    columns.extend(OUTCOMES.map(|(_, name)| (name, Align::Right)));
    columns.push(("headroom", Align::Right));
    let mut table = Table::new(&columns);
    for row in rows {
        let counts =
            OUTCOMES.map(|(outcome, _)| row.counts.get(&outcome).copied().unwrap_or(0).to_string());
        let headroom = row
            .headroom
            .map_or_else(|| "-".to_owned(), |headroom| format!("{headroom:.2}"));
        let words = [
            row.kernel.clone(),
            row.precision.to_string(),
            row.chosen.to_string(),
        ];
        table.push(words.into_iter().chain(counts).chain([headroom]));
    }
    table
}

fn examples(row: &KernelRow) -> String {
    let mut text = String::new();
    for example in &row.examples {
        let name = OUTCOMES
            .iter()
            .find(|(outcome, _)| *outcome == example.outcome)
            .map_or("", |(_, name)| name);
        let _ = writeln!(
            text,
            "  {name}: {} in {}: {} ({}): {}",
            row.kernel, row.precision, example.product, example.origin, example.reason
        );
    }
    text
}

fn failure(entry: &KernelEntry) -> String {
    let reason = entry.reason.as_deref().unwrap_or("no reason");
    format!(
        "  {} in {}: {} ({}): {reason}\n",
        entry.kernel,
        entry.precision,
        entry.product(),
        entry.model
    )
}

fn result(summary: &KernelSummary) -> String {
    let counts: Vec<String> = OUTCOMES
        .iter()
        .map(|(outcome, name)| format!("{} {name}", count(*outcome, summary)))
        .collect();
    let word = if summary.green { "passed" } else { "failed" };
    let failures = summary.failures.len();
    format!(
        "result: {word}: {}; {failures} incorrect of those that the rule chooses\n",
        counts.join(", ")
    )
}

fn count(outcome: KernelOutcome, summary: &KernelSummary) -> usize {
    summary
        .rows
        .iter()
        .filter_map(|row| row.counts.get(&outcome))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::{KernelOutcome, KernelSummary, render_kernels};
    use crate::results::kernels::lines::{KernelLines, tests::entry};
    use testgen_types::KernelEntry;

    #[test]
    fn a_table_then_examples_then_the_result() {
        let wrong = KernelEntry {
            kernel: "matmul_double_unit".to_owned(),
            outcome: KernelOutcome::Wrong,
            headroom: Some(0.125),
            reason: Some("element 3 is 1, expected 2".to_owned()),
            chosen: false,
            one_head: true,
            ..entry()
        };
        let lines = KernelLines {
            entries: vec![entry(), wrong],
            problems: Vec::new(),
        };
        insta::assert_snapshot!(render_kernels(&KernelSummary::new(lines, None)));
    }
}

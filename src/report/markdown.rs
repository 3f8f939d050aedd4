//! A merged report as Markdown for the summary of a CI step: results per device, failures, and changes to a base.

use crate::{
    compare::{Comparison, render_markdown as render_comparison},
    results::{Cell, Merged, MergedEntry, ResultStatus, cells, error_text},
    text::markdown_cell,
};
use std::{collections::BTreeMap, fmt::Write};
use testgen_types::Precision;

/// Failures shown in full: GitHub limits a step summary to 1 MiB.
const FAILURES_SHOWN: usize = 50;
/// Characters shown of a reason.
const REASON_SHOWN: usize = 400;
/// Problems shown.
const PROBLEMS_SHOWN: usize = 20;

/// The cells of a model by column and precision.
type Row<'c> = BTreeMap<(usize, Precision), &'c Cell>;

/// The whole report, with the differences to `base` if given.
pub fn render_markdown(merged: &Merged, base: Option<&Comparison>) -> String {
    let mut text = String::from("# Conformance\n\n");
    push_result(&mut text, merged);
    push_problems(&mut text, merged);
    push_matrix(&mut text, merged);
    push_not_run(&mut text, merged);
    push_failures(&mut text, merged);
    if let Some(comparison) = base {
        text.push_str("\n## Compared with the base\n\n");
        text.push_str(&render_comparison(comparison));
    }
    text
}

fn push_result(text: &mut String, merged: &Merged) {
    let result = if merged.is_green() { "passed" } else { "FAILED" };
    let counts: Vec<String> =
        merged.counts().iter().map(|(status, count)| format!("{count} {} {}", status.word(), status.sign())).collect();
    push(text, format_args!("**{result}**: {}\n", counts.join(", ")));
}

fn push_problems(text: &mut String, merged: &Merged) {
    if merged.problems.is_empty() {
        return;
    }
    text.push_str("## Not trustworthy\n\n");
    for problem in merged.problems.iter().take(PROBLEMS_SHOWN) {
        push(text, format_args!("- {}", cell(problem)));
    }
    push_rest(text, merged.problems.len(), PROBLEMS_SHOWN);
    text.push('\n');
}

/// One row for each model, one column for each device and precision.
fn push_matrix(text: &mut String, merged: &Merged) {
    let absent: Vec<bool> = (0..merged.columns.len()).map(|column| is_absent(merged, column)).collect();
    let cells: Vec<Cell> = cells(merged).into_iter().filter(|cell| !absent[cell.column]).collect();
    let mut columns: Vec<(usize, Precision)> = cells.iter().map(|cell| (cell.column, cell.precision)).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut rows: BTreeMap<(&str, &str), Row<'_>> = BTreeMap::new();
    for cell in &cells {
        let row = rows.entry((cell.architecture.as_str(), &cell.model)).or_default();
        row.insert((cell.column, cell.precision), cell);
    }
    let heads: Vec<String> = columns
        .iter()
        .map(|(column, precision)| format!("{} {precision}", markdown_cell(&merged.columns[*column].label())))
        .collect();
    push(text, format_args!("## Results by device\n\n| architecture | model | {} |", heads.join(" | ")));
    push(text, format_args!("|---|---|{}", "---|".repeat(columns.len())));
    for ((architecture, model), row) in rows {
        let shown: Vec<String> =
            columns.iter().map(|column| row.get(column).map_or(String::new(), |cell| show(cell))).collect();
        push(text, format_args!("| {architecture} | {} | {} |", markdown_cell(model), shown.join(" | ")));
    }
    let legend: Vec<String> = ResultStatus::ALL
        .iter()
        .map(|status| format!("{} {}: {}", status.sign(), status.word(), status.meaning()))
        .collect();
    push(text, format_args!("\n{}", legend.join("; ")));
}

/// Whether no device of the column ran and none of its entries is red. The matrix leaves such columns out to stay narrow.
fn is_absent(merged: &Merged, column: usize) -> bool {
    let red = merged.entries.iter().any(|entry| entry.column == column && entry.evaluation.red);
    merged.columns[column].name.is_none() && !red
}

/// Devices without a column: the statuses of their checks, and the most frequent reason.
fn push_not_run(text: &mut String, merged: &Merged) {
    for (index, column) in merged.columns.iter().enumerate().filter(|(index, _)| is_absent(merged, *index)) {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        let mut counts: BTreeMap<ResultStatus, usize> = BTreeMap::new();
        // Passes without a device are checks of mocks and fallbacks.
        let not_run = |entry: &&MergedEntry| entry.column == index && entry.evaluation.status != ResultStatus::Pass;
        for entry in merged.entries.iter().filter(not_run) {
            *counts.entry(entry.evaluation.status).or_default() += 1;
            *reasons.entry(entry.entry.reason.as_deref().unwrap_or("no reason given")).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.iter().map(|(status, count)| format!("{count} {} {}", status.word(), status.sign())).collect();
        let Some((reason, _)) = reasons.iter().max_by_key(|(_, count)| **count) else { continue };
        push(text, format_args!("\n**{}**: {}; {}", markdown_cell(&column.label()), counts.join(", "), cell(reason)));
    }
}

/// `✓ pass 5.2e-4 ×9.4`: sign, word, error and headroom of the tightest tensor.
fn show(cell: &Cell) -> String {
    let status = cell.status;
    let mut text = format!("{} {}", status.sign(), status.word());
    if matches!(status, ResultStatus::Ignored | ResultStatus::Fallback | ResultStatus::Mock) {
        return text;
    }
    if let Some(tightest) = &cell.tightest {
        let _ = write!(text, " {}", error_text(tightest));
        // 1e6 is what the runtime reports for an error of zero, and 0 for tensors that cannot be compared; neither is a
        // ratio.
        if tightest.headroom < 1e6 && tightest.headroom > 0.0 {
            let _ = write!(text, " {}", headroom_text(tightest.headroom));
        }
    }
    if let Some(layer) = &cell.first_diverging {
        let _ = write!(text, " at `{}`", markdown_cell(layer));
    }
    text
}

fn headroom_text(headroom: f64) -> String {
    // One decimal of a smaller headroom would be `0.0`.
    if headroom < 0.1 { format!("\u{d7}{headroom:.1e}") } else { format!("\u{d7}{headroom:.1}") }
}

fn push_failures(text: &mut String, merged: &Merged) {
    let is_shown =
        |entry: &&MergedEntry| entry.evaluation.red || entry.evaluation.status == ResultStatus::ExpectedFailure;
    let failures: Vec<&MergedEntry> = merged.entries.iter().filter(is_shown).collect();
    if failures.is_empty() {
        return;
    }
    text.push_str("\n## Failures\n\n| check | device | status | reason |\n|---|---|---|---|\n");
    for entry in failures.iter().take(FAILURES_SHOWN) {
        let status = entry.evaluation.status;
        let why = [entry.evaluation.note.as_deref(), entry.entry.reason.as_deref()];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
        push(
            text,
            format_args!(
                "| `{}` | {} | {} {} | {} |",
                entry.entry.test_name(),
                markdown_cell(&merged.columns[entry.column].label()),
                status.sign(),
                status.word(),
                cell(&why)
            ),
        );
    }
    push_rest(text, failures.len(), FAILURES_SHOWN);
}

fn push_rest(text: &mut String, all: usize, shown: usize) {
    if all > shown {
        push(text, format_args!("\nand {} more, see the page", all - shown));
    }
}

/// A reason, shortened to one line.
fn cell(text: &str) -> String {
    let mut short: String = text.chars().take(REASON_SHOWN).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    markdown_cell(&short)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String can always be written");
}

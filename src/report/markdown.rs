//! A merged report as Markdown for the summary of a CI step: results per device, failures, and
//! changes to a base.

mod matrix;

use crate::{
    compare::{ReportComparison, render_markdown as render_comparison},
    results::read::{MergedEntry, MergedReport, ResultStatus, StatusCounts, cells},
};
use matrix::push_matrix;
use std::collections::BTreeMap;
use testgen_base::text::{markdown_cell, push_line};

/// Failures shown in full.
// GitHub limits a step summary to 1 MiB.
const FAILURES_SHOWN: usize = 50;
/// Characters shown of a reason.
const REASON_SHOWN: usize = 400;
/// Problems shown.
const PROBLEMS_SHOWN: usize = 20;

/// The whole report, with the differences to `base` if given.
pub fn render_markdown(merged: &MergedReport, base: Option<&ReportComparison>) -> String {
    let mut text = String::from("# Conformance\n\n");
    push_result(&mut text, merged);
    push_problems(&mut text, merged);
    push_matrix(&mut text, merged, |column| is_absent(merged, column));
    push_not_run(&mut text, merged);
    push_failures(&mut text, merged);
    push_layers(&mut text, merged);
    if let Some(comparison) = base {
        text.push_str("\n## Compared with the base\n\n");
        text.push_str(&render_comparison(comparison));
    }
    text
}

fn push_result(text: &mut String, merged: &MergedReport) {
    let result = if merged.is_green() {
        "passed"
    } else {
        "FAILED"
    };
    let StatusCounts { numbers, others } = merged.counts();
    push_line(
        text,
        format_args!(
            "**{result}**: numbers: {}; other checks: {}\n",
            words(&numbers),
            words(&others)
        ),
    );
}

/// `2 fail ✗, 40 pass ✓`.
fn words(counts: &BTreeMap<ResultStatus, usize>) -> String {
    let counts = counts
        .iter()
        .map(|(status, count)| format!("{count} {} {}", status.word(), status.sign()));
    let counts = counts.collect::<Vec<_>>().join(", ");
    if counts.is_empty() {
        "none".to_owned()
    } else {
        counts
    }
}

fn push_problems(text: &mut String, merged: &MergedReport) {
    if merged.problems.is_empty() {
        return;
    }
    text.push_str("## Not trustworthy\n\n");
    for problem in merged.problems.iter().take(PROBLEMS_SHOWN) {
        push_line(text, format_args!("- {}", cell(problem)));
    }
    push_rest(text, merged.problems.len(), PROBLEMS_SHOWN);
    text.push('\n');
}

/// Whether no device of the column ran and none of its entries is red. The matrix leaves such
/// columns out to stay narrow.
fn is_absent(merged: &MergedReport, column: usize) -> bool {
    let red = merged
        .entries
        .iter()
        .any(|entry| entry.column == column && entry.evaluation.red);
    // A red entry keeps its column, so that a failure is never left out.
    merged.columns[column].name.is_none() && !red
}

/// Devices without a column: the statuses of their checks, and the most frequent reason.
fn push_not_run(text: &mut String, merged: &MergedReport) {
    for (index, column) in merged
        .columns
        .iter()
        .enumerate()
        .filter(|(index, _)| is_absent(merged, *index))
    {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        let mut counts: BTreeMap<ResultStatus, usize> = BTreeMap::new();
        for entry in merged.entries.iter().filter(|entry| {
            // Passes without a device are checks of mocks and fallbacks.
            entry.column == index && entry.evaluation.status != ResultStatus::Pass
        }) {
            *counts.entry(entry.evaluation.status).or_default() += 1;
            *reasons
                .entry(entry.entry.reason.as_deref().unwrap_or("no reason given"))
                .or_default() += 1;
        }
        // The most frequent reason for all: an absent device has the same one for every check.
        let Some((reason, _)) = reasons.iter().max_by_key(|(_, count)| **count) else {
            continue;
        };
        push_line(
            text,
            format_args!(
                "\n**{}**: {}; {}",
                markdown_cell(&column.label()),
                words(&counts),
                cell(reason)
            ),
        );
    }
}

fn push_failures(text: &mut String, merged: &MergedReport) {
    let failures: Vec<&MergedEntry> = merged
        .entries
        .iter()
        .filter(|entry| {
            // Also expected ones, whose note has the owner and the date.
            entry.evaluation.red || entry.evaluation.status == ResultStatus::ExpectedFailure
        })
        .collect();
    if failures.is_empty() {
        return;
    }
    text.push_str("\n## Failures\n\n| check | device | status | reason |\n|---|---|---|---|\n");
    for entry in failures.iter().take(FAILURES_SHOWN) {
        let status = entry.evaluation.status;
        let why = [
            entry.evaluation.note.as_deref(),
            entry.entry.reason.as_deref(),
        ];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
        push_line(
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

/// One line for each model whose errors rise at a layer, and for each red one with layers.
fn push_layers(text: &mut String, merged: &MergedReport) {
    let shown = cells(merged).into_iter().filter_map(|cell| {
        let depth = cell.depth.clone()?;
        // Errors that grow evenly are rounding; a rise names the layer that causes it.
        (depth.rise.is_some() || cell.numbers.is_severe()).then_some((cell, depth))
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() {
        return;
    }
    text.push_str("\n## Errors by layer\n\n");
    for (cell, depth) in shown.iter().take(FAILURES_SHOWN) {
        push_line(
            text,
            format_args!(
                "- `{}` in {} on {}: {}",
                cell.model,
                cell.precision,
                markdown_cell(&merged.columns[cell.column].label()),
                markdown_cell(&depth.describe())
            ),
        );
    }
    push_rest(text, shown.len(), FAILURES_SHOWN);
}

fn push_rest(text: &mut String, all: usize, shown: usize) {
    if all > shown {
        push_line(
            text,
            format_args!("\nand {} more, see the page", all - shown),
        );
    }
}

/// A reason, shortened to one line.
fn cell(text: &str) -> String {
    let mut short: String = text.chars().take(REASON_SHOWN).collect();
    // Both in bytes: a text that was cut is shorter in any unit.
    if short.len() < text.len() {
        short.push_str("...");
    }
    markdown_cell(&short)
}

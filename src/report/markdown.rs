//! A merged report as Markdown, for the summary of a CI step: what ran where, what is wrong, what changed.

use super::{
    Cell, Entry, Merged, Standing,
    cell::{cells, error_text},
};
use crate::compare::{Comparison, render_markdown as render_comparison};
use std::{collections::BTreeMap, fmt::Write};
use testgen_contract::Precision;

/// Failures told in full; a step summary holds 1 MiB.
const FAILURES_SHOWN: usize = 50;
/// Characters of a reason.
const REASON_SHOWN: usize = 400;
/// Problems told.
const PROBLEMS_SHOWN: usize = 20;

/// The cells of a model by column and precision.
type Row<'c> = BTreeMap<(usize, Precision), &'c Cell>;

/// The whole report, with the differences to a base where there is one.
pub fn render_markdown(merged: &Merged, base: Option<&Comparison>) -> String {
    let mut text = String::from("# Conformance\n\n");
    push_verdict(&mut text, merged);
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

fn push_verdict(text: &mut String, merged: &Merged) {
    let verdict = if merged.is_green() { "passed" } else { "FAILED" };
    let counts: Vec<String> = merged
        .counts()
        .iter()
        .map(|(standing, count)| format!("{count} {} {}", standing.word(), standing.sign()))
        .collect();
    push(text, format_args!("**{verdict}**: {}\n", counts.join(", ")));
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
    let silent: Vec<bool> = (0..merged.columns.len()).map(|column| is_silent(merged, column)).collect();
    let cells: Vec<Cell> = cells(merged).into_iter().filter(|cell| !silent[cell.column]).collect();
    let mut places: Vec<(usize, Precision)> = cells.iter().map(|cell| (cell.column, cell.precision)).collect();
    places.sort_unstable();
    places.dedup();
    let mut rows: BTreeMap<(&str, &str), Row<'_>> = BTreeMap::new();
    for cell in &cells {
        let row = rows.entry((cell.architecture.as_str(), &cell.model)).or_default();
        row.insert((cell.column, cell.precision), cell);
    }
    let heads: Vec<String> = places
        .iter()
        .map(|(column, precision)| format!("{} {precision}", cell_text(&merged.columns[*column].label())))
        .collect();
    push(text, format_args!("## What ran where\n\n| architecture | model | {} |", heads.join(" | ")));
    push(text, format_args!("|---|---|{}", "---|".repeat(places.len())));
    for ((architecture, model), row) in rows {
        let shown: Vec<String> =
            places.iter().map(|place| row.get(place).map_or(String::new(), |cell| show(cell))).collect();
        push(text, format_args!("| {architecture} | {} | {} |", cell_text(model), shown.join(" | ")));
    }
    let legend: Vec<String> = Standing::ALL
        .iter()
        .map(|standing| format!("{} {}: {}", standing.sign(), standing.word(), standing.meaning()))
        .collect();
    push(text, format_args!("\n{}", legend.join("; ")));
}

/// Whether no device of the column ran and nothing is wrong with that; the matrix has room for devices that ran.
fn is_silent(merged: &Merged, column: usize) -> bool {
    let red = merged.entries.iter().any(|entry| entry.column == column && entry.judged.red);
    merged.columns[column].name.is_none() && !red
}

/// Devices without a column: what became of their checks, and the commonest reason.
fn push_not_run(text: &mut String, merged: &Merged) {
    for (index, column) in merged.columns.iter().enumerate().filter(|(index, _)| is_silent(merged, *index)) {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        let mut counts: BTreeMap<Standing, usize> = BTreeMap::new();
        // A pass here is of a check about mocks and fallbacks.
        let not_run = |entry: &&Entry| entry.column == index && entry.judged.standing != Standing::Pass;
        for entry in merged.entries.iter().filter(not_run) {
            *counts.entry(entry.judged.standing).or_default() += 1;
            *reasons.entry(entry.record.reason.as_deref().unwrap_or("no reason given")).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.iter().map(|(standing, count)| format!("{count} {} {}", standing.word(), standing.sign())).collect();
        let Some((reason, _)) = reasons.iter().max_by_key(|(_, count)| **count) else { continue };
        push(text, format_args!("\n**{}**: {}; {}", cell_text(&column.label()), counts.join(", "), cell(reason)));
    }
}

/// `✓ pass 5.2e-4 ×9.4`: sign, word, error and headroom of the tightest tensor.
fn show(cell: &Cell) -> String {
    let standing = cell.standing;
    let mut text = format!("{} {}", standing.sign(), standing.word());
    if matches!(standing, Standing::Ignored | Standing::Fallback | Standing::Mock) {
        return text;
    }
    if let Some(tightest) = &cell.tightest {
        let _ = write!(text, " {}", error_text(tightest));
        if tightest.headroom < 1e6 && tightest.headroom > 0.0 {
            let _ = write!(text, " {}", headroom_text(tightest.headroom));
        }
    }
    if let Some(layer) = &cell.first_diverging {
        let _ = write!(text, " at `{}`", cell_text(layer));
    }
    text
}

fn headroom_text(headroom: f64) -> String {
    if headroom < 0.1 { format!("\u{d7}{headroom:.1e}") } else { format!("\u{d7}{headroom:.1}") }
}

fn push_failures(text: &mut String, merged: &Merged) {
    let told = |entry: &&Entry| entry.judged.red || entry.judged.standing == Standing::ExpectedFailure;
    let failures: Vec<&Entry> = merged.entries.iter().filter(told).collect();
    if failures.is_empty() {
        return;
    }
    text.push_str("\n## Failures\n\n| check | device | standing | why |\n|---|---|---|---|\n");
    for entry in failures.iter().take(FAILURES_SHOWN) {
        let standing = entry.judged.standing;
        let why = [entry.judged.note.as_deref(), entry.record.reason.as_deref()];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
        push(
            text,
            format_args!(
                "| `{}` | {} | {} {} | {} |",
                entry.record.test_name(),
                cell_text(&merged.columns[entry.column].label()),
                standing.sign(),
                standing.word(),
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

/// A reason: shortened, on one line.
fn cell(text: &str) -> String {
    let mut short: String = text.chars().take(REASON_SHOWN).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    cell_text(&short)
}

/// Foreign text that stays within its cell and is no markup.
pub(crate) fn cell_text(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String can always be written");
}

//! The matrix of a report: a row for each model, a column for each device and precision. With many
//! models a row for each architecture, and models only where not every check passed.

use crate::results::read::{Cell, MergedReport, ResultStatus, cells, error_text};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};
use testgen_base::text::{markdown_cell, push_line};
use testgen_types::Precision;

/// Models of a table that is read without a summary.
const MODELS_SHOWN: usize = 40;
/// Notable models shown.
// GitHub limits a step summary to 1 MiB.
const NOTABLE_SHOWN: usize = 200;

/// A device and a precision.
type Position = (usize, Precision);

/// Architecture and name of a model.
type ModelKey<'c> = (&'c str, &'c str);

/// The cells of each model by position.
type Rows<'c> = BTreeMap<ModelKey<'c>, BTreeMap<Position, &'c Cell>>;

/// The matrix without the columns for which `is_absent`, and the legend.
pub(super) fn push_matrix(
    text: &mut String,
    merged: &MergedReport,
    is_absent: impl Fn(usize) -> bool,
) {
    // Once for each column, because it looks at every entry of the report.
    let absent: Vec<bool> = (0..merged.columns.len()).map(is_absent).collect();
    let cells: Vec<Cell> = cells(merged)
        .into_iter()
        .filter(|cell| !absent[cell.column])
        .collect();
    let positions: BTreeSet<Position> = cells
        .iter()
        .map(|cell| (cell.column, cell.precision))
        .collect();
    let mut rows = Rows::new();
    for cell in &cells {
        let row = rows
            .entry((cell.architecture.as_str(), &cell.model))
            .or_default();
        row.insert((cell.column, cell.precision), cell);
    }
    text.push_str("## Results by device\n\n");
    if rows.len() > MODELS_SHOWN {
        push_architectures(text, merged, &positions, &rows);
        push_notable(text, merged, &positions, rows);
    } else {
        push_models(text, merged, &positions, &rows);
    }
    let legend: Vec<String> = ResultStatus::ALL
        .iter()
        .map(|status| format!("{} {}: {}", status.sign(), status.word(), status.meaning()))
        .collect();
    push_line(text, format_args!("\n{}", legend.join("; ")));
}

fn push_heads(
    text: &mut String,
    merged: &MergedReport,
    positions: &BTreeSet<Position>,
    second: &str,
) {
    let heads: Vec<String> = positions
        .iter()
        .map(|(column, precision)| {
            format!(
                "{} {precision}",
                markdown_cell(&merged.columns[*column].label())
            )
        })
        .collect();
    push_line(
        text,
        format_args!("| architecture | {second} | {} |", heads.join(" | ")),
    );
    push_line(
        text,
        format_args!("|---|---|{}", "---|".repeat(heads.len())),
    );
}

fn push_models(
    text: &mut String,
    merged: &MergedReport,
    positions: &BTreeSet<Position>,
    rows: &Rows<'_>,
) {
    push_heads(text, merged, positions, "model");
    for ((architecture, model), row) in rows {
        let shown: Vec<String> = positions
            .iter()
            .map(|position| row.get(position).map_or(String::new(), |cell| show(cell)))
            .collect();
        push_line(
            text,
            format_args!(
                "| {architecture} | {} | {} |",
                markdown_cell(model),
                shown.join(" | ")
            ),
        );
    }
}

/// The number of models by status, for each architecture and position.
fn push_architectures(
    text: &mut String,
    merged: &MergedReport,
    positions: &BTreeSet<Position>,
    rows: &Rows<'_>,
) {
    push_heads(text, merged, positions, "models");
    let rows: Vec<(&ModelKey<'_>, &BTreeMap<Position, &Cell>)> = rows.iter().collect();
    for rows in rows.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
        let shown = positions.iter().map(|position| {
            let cells: Vec<&Cell> = rows
                .iter()
                .filter_map(|(_, row)| row.get(position).copied())
                .collect();
            count(&cells)
        });
        let (architecture, shown) = (rows[0].0.0, shown.collect::<Vec<_>>().join(" | "));
        push_line(
            text,
            format_args!("| {architecture} | {} | {shown} |", rows.len()),
        );
    }
}

/// `x 1, ✓ 40; other checks x 2`: the models by the status of their numbers, then those whose other
/// checks are notable.
fn count(cells: &[&Cell]) -> String {
    let numbers = count_statuses(cells.iter().map(|cell| cell.numbers.status));
    // Models whose other checks pass are left out: their number says nothing beside the first part.
    let others = count_statuses(
        cells
            .iter()
            .filter(|cell| cell.others.is_severe())
            .map(|cell| cell.others.status),
    );
    if others.is_empty() {
        numbers
    } else {
        format!("{numbers}; other checks {others}")
    }
}

/// `x 1, ✓ 40`.
fn count_statuses(statuses: impl Iterator<Item = ResultStatus>) -> String {
    let mut counts: BTreeMap<ResultStatus, usize> = BTreeMap::new();
    statuses.for_each(|status| *counts.entry(status).or_default() += 1);
    counts
        .iter()
        .map(|(status, count)| format!("{} {count}", status.sign()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The models with a notable cell, and the number of the others.
fn push_notable(
    text: &mut String,
    merged: &MergedReport,
    positions: &BTreeSet<Position>,
    mut rows: Rows<'_>,
) {
    let all = rows.len();
    rows.retain(|_, row| row.values().any(|cell| cell.is_notable()));
    let notable = rows.len();
    // `split_off` keeps the keys before the given one.
    if let Some(first_hidden) = rows.keys().nth(NOTABLE_SHOWN).copied() {
        rows.split_off(&first_hidden);
    }
    text.push('\n');
    if !rows.is_empty() {
        text.push_str("### Models that did not simply pass\n\n");
        push_models(text, merged, positions, &rows);
        let hidden = notable.saturating_sub(NOTABLE_SHOWN);
        text.push_str(&if hidden > 0 {
            format!("\nand {hidden} more, see the page\n\n")
        } else {
            "\n".to_owned()
        });
    }
    let rest = if notable == 0 {
        format!("all {all} models")
    } else {
        format!("the other {} models", all - notable)
    };
    push_line(
        text,
        format_args!("Of {rest} every check passed or was ignored."),
    );
}

/// `✓ pass 5.2e-4 ×9.4`: sign, word, error and headroom of the tightest tensor of the numbers, then
/// the other checks if they are notable.
fn show(cell: &Cell) -> String {
    let status = cell.numbers.status;
    let mut text = format!("{} {}", status.sign(), status.word());
    // Their errors, if there are any, are not errors of this device.
    if !matches!(
        status,
        ResultStatus::Ignored | ResultStatus::Fallback | ResultStatus::Mock
    ) {
        push_error(&mut text, cell);
    }
    if cell.others.is_severe() {
        let (status, count) = (cell.others.status, cell.others.most_severe());
        let _ = write!(
            text,
            "; other checks: {count} {} {}",
            status.word(),
            status.sign()
        );
    }
    text
}

fn push_error(text: &mut String, cell: &Cell) {
    if let Some(tightest) = &cell.numbers.tightest {
        let _ = write!(text, " {}", error_text(tightest));
        // 1e6 is what the runtime reports for an error of zero, and 0 for tensors that cannot be
        // compared; neither is a ratio.
        if tightest.headroom < 1e6 && tightest.headroom > 0.0 {
            let _ = write!(text, " {}", headroom_text(tightest.headroom));
        }
    }
    if let Some(layer) = &cell.first_diverging {
        let _ = write!(text, " at `{}`", markdown_cell(layer));
    }
}

fn headroom_text(headroom: f64) -> String {
    // One decimal of a smaller headroom would be `0.0`.
    if headroom < 0.1 {
        format!("\u{d7}{headroom:.1e}")
    } else {
        format!("\u{d7}{headroom:.1}")
    }
}

//! A comparison of times as a table, as Markdown and as JSON.

use super::{
    comparison::{SpeedComparison, SpeedRow, SpeedWork},
    digits::digits,
};
use std::fmt::Write;
use testgen_base::text::{Align, Table, markdown_cell, one_line};

/// The columns of the table of ratios.
pub(super) const COLUMNS: [(&str, Align); 8] = [
    ("work", Align::Left),
    ("earlier", Align::Left),
    ("ms", Align::Right),
    ("later", Align::Left),
    ("ms", Align::Right),
    ("ratio", Align::Right),
    ("95 %", Align::Right),
    ("change", Align::Left),
];

/// The ratios, then what could not be compared; the last line is the result.
pub fn render_speed(comparison: &SpeedComparison) -> String {
    let mut table = Table::new(&COLUMNS);
    for row in &comparison.rows {
        table.push(cells(row));
    }
    format!("{table}\n{}{}", others(comparison), result(comparison))
}

/// The same as Markdown.
pub fn render_speed_markdown(comparison: &SpeedComparison) -> String {
    let heading = COLUMNS.map(|(name, _)| name).join(" | ");
    let mut text = format!("| {heading} |\n|{}\n", "---|".repeat(COLUMNS.len()));
    for row in &comparison.rows {
        let cells = cells(row).map(|cell| markdown_cell(&cell));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    format!("{text}\n{}\n{}", others(comparison), result(comparison))
}

/// One JSON object with a version.
pub fn render_speed_json(comparison: &SpeedComparison) -> String {
    serde_json::to_string_pretty(comparison).expect("a comparison has string keys only") + "\n"
}

/// The cells of a ratio.
pub(super) fn cells(row: &SpeedRow) -> [String; COLUMNS.len()] {
    // The word of the JSON form, so that all forms have one.
    let change = serde_json::to_value(row.change).unwrap_or_default();
    let change = change.as_str().unwrap_or_default();
    [
        work(&row.work),
        row.earlier.device.clone(),
        digits(row.earlier.milliseconds),
        row.later.device.clone(),
        digits(row.later.milliseconds),
        format!("{:.3}", row.ratio.ratio),
        row.ratio.interval.map_or_else(
            || "-".to_owned(),
            |[low, high]| format!("{low:.3} to {high:.3}"),
        ),
        format!("{change}{}", if row.red { ", red" } else { "" }),
    ]
}

/// `bert f32 forward 8 x 128`.
fn work(work: &SpeedWork) -> String {
    let SpeedWork {
        subject,
        precision,
        measured,
        ..
    } = work;
    let what = work.case.clone().unwrap_or_else(|| measured.to_string());
    let size = match (work.batch, work.tokens, work.bytes) {
        (Some(batch), Some(tokens), _) => format!(" {batch} x {tokens}"),
        (Some(batch), None, _) => format!(" {batch}"),
        (None, _, Some(bytes)) => format!(" {bytes} bytes"),
        (None, _, None) => String::new(),
    };
    format!("{subject} {precision} {what}{size}")
}

/// The work that could not be compared.
pub(super) fn others(comparison: &SpeedComparison) -> String {
    let mut text = String::new();
    for refused in &comparison.refused {
        let [a, b] = &refused.values;
        let _ = writeln!(
            text,
            "refused: {}: `{}` is {a} and {b}",
            work(&refused.work),
            refused.field
        );
    }
    for wrong in &comparison.wrong {
        let reason = one_line(&wrong.reason);
        let _ = writeln!(text, "wrong: {}: {reason}", work(&wrong.work));
    }
    for (count, name) in [
        (comparison.only_earlier.len(), "earlier"),
        (comparison.only_later.len(), "later"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "only in the {name} report: {count}");
        }
    }
    for problem in &comparison.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    text
}

/// The last line: whether the comparison is green.
pub(super) fn result(comparison: &SpeedComparison) -> String {
    let word = if comparison.green { "passed" } else { "failed" };
    let red = comparison.rows.iter().filter(|row| row.red).count();
    let limit = match comparison.fail_slower {
        Some(ratio) => format!(", {red} slower by more than {ratio}"),
        None => String::new(),
    };
    format!(
        "result: {word}: {} compared{limit}, {} refused, {} wrong\n",
        comparison.rows.len(),
        comparison.refused.len(),
        comparison.wrong.len()
    )
}

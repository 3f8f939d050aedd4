//! A comparison as a table for the terminal, as Markdown and as JSON.

use super::{Compared, Comparison, Verdict};
use crate::report::{Align, Table, cell_text};
use std::fmt::Write;

/// Rows of one verdict that Markdown shows; a step summary holds 1 MiB.
const ROWS_SHOWN: usize = 100;

/// Everything but `same`, then the counts and the verdict.
pub fn render_human(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        ("verdict", Align::Left),
        ("check", Align::Left),
        ("first", Align::Left),
        ("second", Align::Left),
        ("why", Align::Left),
    ]);
    for check in comparison.checks.iter().filter(|check| check.verdict != Verdict::Same) {
        table.push([
            check.verdict.word().to_owned(),
            check.test.clone(),
            side_a(check),
            side_b(check),
            check.why.clone(),
        ]);
    }
    let mut text = table.to_string();
    let _ = write!(text, "\nresult: {}: {}\n", word(comparison), counts(comparison));
    text
}

/// One JSON object with a version.
pub fn render_json(comparison: &Comparison) -> String {
    format!("{}\n", serde_json::to_string_pretty(comparison).expect("a comparison has string keys only"))
}

/// Counts, and a table of what is not the same, with the three-way numbers of the tensor that moved most.
pub fn render_markdown(comparison: &Comparison) -> String {
    let mut text = format!("**{}**: {}\n", word(comparison), counts(comparison));
    let mut opened = false;
    for verdict in Verdict::ALL.iter().filter(|verdict| **verdict != Verdict::Same) {
        let checks: Vec<&Compared> = comparison.checks.iter().filter(|check| check.verdict == *verdict).collect();
        if !checks.is_empty() && !opened {
            text.push_str(
                "\n| verdict | check | first | second | why | between the two |\n|---|---|---|---|---|---|\n",
            );
            opened = true;
        }
        for check in checks.iter().take(ROWS_SHOWN) {
            push_row(&mut text, check);
        }
        if checks.len() > ROWS_SHOWN {
            let _ = writeln!(text, "| {} | and {} more | | | | |", verdict.word(), checks.len() - ROWS_SHOWN);
        }
    }
    text
}

fn push_row(text: &mut String, check: &Compared) {
    let between = check.outputs.iter().filter_map(|output| output.a_to_b).max_by(|a, b| a[1].total_cmp(&b[1]));
    let between = between.map_or(String::new(), |[least, most]| format!("{least:.2e} to {most:.2e}"));
    let _ = writeln!(
        text,
        "| {} | `{}` | {} | {} | {} | {between} |",
        check.verdict.word(),
        check.test,
        cell_text(&side_a(check)),
        cell_text(&side_b(check)),
        cell_text(&check.why)
    );
}

fn side_a(check: &Compared) -> String {
    check.a.as_ref().map_or(String::new(), |side| format!("{} {}", side.standing.sign(), side.device))
}

fn side_b(check: &Compared) -> String {
    check.b.as_ref().map_or(String::new(), |side| format!("{} {}", side.standing.sign(), side.device))
}

fn word(comparison: &Comparison) -> &'static str {
    match (comparison.green, comparison.checks.iter().any(|check| check.a.is_some() && check.b.is_some())) {
        (true, _) => "nothing got worse",
        (false, true) => "WORSE",
        (false, false) => "NOTHING TO COMPARE",
    }
}

fn counts(comparison: &Comparison) -> String {
    let of = |verdict: &Verdict| comparison.counts.get(verdict).copied().unwrap_or(0);
    let counts = Verdict::ALL.iter().map(|verdict| format!("{} {}", of(verdict), verdict.word()));
    counts.collect::<Vec<_>>().join(", ")
}

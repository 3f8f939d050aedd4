//! A summary as a person reads it: the table, then what was ignored and why, then what failed and why.

use super::{Align, Expectation, Problem, Row, Summary, Table, render_failure};
use std::{collections::BTreeSet, fmt::Write};

/// Models named behind a reason; the count says how many there are.
const MODELS_NAMED: usize = 3;

/// Problems shown of one kind.
const PROBLEMS_SHOWN: usize = 5;

/// The whole summary; ends with the verdict.
pub fn render_human(summary: &Summary) -> String {
    let mut text = table(summary).to_string();
    push_ignored(&mut text, summary);
    if !summary.failures.is_empty() {
        text.push_str("\nfailed\n");
        text.extend(summary.failures.iter().map(render_failure));
    }
    if !summary.expectations.is_empty() {
        text.push_str("\nexpected to fail\n");
        let told = |expectation: &Expectation| {
            let Expectation { test, standing, told } = expectation;
            format!("  {test}: {}: {told}\n", standing.word())
        };
        text.extend(summary.expectations.iter().map(told));
    }
    if !summary.problems.is_empty() {
        text.push_str("\nnot trustworthy\n");
        push_problems(&mut text, &summary.problems);
    }
    text.push('\n');
    text.push_str(&verdict(summary));
    text
}

fn table(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        ("architecture", Align::Left),
        ("model", Align::Left),
        ("device", Align::Left),
        ("passed", Align::Right),
        ("failed", Align::Right),
        ("ignored", Align::Right),
        ("numbers computed on", Align::Left),
    ]);
    for row in &summary.rows {
        let counts = [row.passed, row.failed, row.ignored].map(|count| count.to_string());
        let words = [row.architecture.to_string(), row.model.clone(), row.device.to_string()];
        table.push(words.into_iter().chain(counts).chain([computed_on(row)]));
    }
    table
}

fn computed_on(row: &Row) -> String {
    if row.ran_on.is_empty() {
        return "nothing".to_owned();
    }
    row.ran_on.iter().map(super::RanOn::describe).collect::<Vec<_>>().join("; ")
}

fn push_ignored(text: &mut String, summary: &Summary) {
    if summary.ignored_reasons.is_empty() {
        return;
    }
    text.push_str("\nignored\n");
    for ignored in &summary.ignored_reasons {
        let reason = ignored.reason.trim().replace('\n', "\n    ");
        let prefix = format!("{}: ", ignored.device);
        let prefix = if reason.starts_with(&prefix) { "" } else { &prefix };
        let checks = plural(ignored.checks, "check");
        let models = named(&ignored.models);
        writeln!(text, "  {prefix}{reason} ({checks} of {models})").expect("a String can always be written");
    }
}

/// A suite that crashed leaves hundreds of checks without a record; the first of each kind tell enough.
fn push_problems(text: &mut String, problems: &[Problem]) {
    for group in problems.chunk_by(|a, b| a.kind() == b.kind()) {
        text.extend(group.iter().take(PROBLEMS_SHOWN).map(|problem| format!("  {problem}\n")));
        if group.len() > PROBLEMS_SHOWN {
            text.push_str(&format!("  and {} more of this kind\n", group.len() - PROBLEMS_SHOWN));
        }
    }
}

fn named(models: &BTreeSet<String>) -> String {
    if models.len() > MODELS_NAMED {
        return plural(models.len(), "model");
    }
    models.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn verdict(summary: &Summary) -> String {
    let word = if summary.green { "passed" } else { "FAILED" };
    let Summary { passed, failed, ignored, .. } = summary;
    let as_expected = failed - summary.failures.len();
    let as_expected = if as_expected == 0 { String::new() } else { format!(" ({as_expected} as expected)") };
    let problems = match summary.problems.len() {
        0 => String::new(),
        count => format!(", {}", plural(count, "problem")),
    };
    format!(
        "result: {word}: {} passed, {failed} failed{as_expected}, {ignored} ignored{problems}\n",
        plural(*passed, "check")
    )
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

//! Renders a summary for a terminal: the table, then reasons of ignored checks, failures and
//! problems.

mod table;

use super::render_failure;
use crate::results::read::{ExpectedToFail, ReportProblem, Summary, on_engine};
use std::{collections::BTreeSet, fmt::Write};
use table::tables;

/// Models listed after a reason; more are only counted.
const MODELS_NAMED: usize = 3;

/// Problems shown of one kind.
const PROBLEMS_SHOWN: usize = 5;

/// The whole summary; its last line is the result.
pub fn render_human(summary: &Summary) -> String {
    let mut text = tables(summary);
    push_ignored(&mut text, summary);
    if !summary.failures.is_empty() {
        text.push_str("\nfailed\n");
        text.extend(summary.failures.iter().map(render_failure));
    }
    if !summary.expectations.is_empty() {
        text.push_str("\nexpected to fail\n");
        let lines = summary.expectations.iter().map(
            |ExpectedToFail {
                 test,
                 status,
                 description,
             }| { format!("  {test}: {}: {description}\n", status.word()) },
        );
        text.extend(lines);
    }
    if !summary.problems.is_empty() {
        text.push_str("\nnot trustworthy\n");
        push_problems(&mut text, &summary.problems);
    }
    text.push('\n');
    text.push_str(&result(summary));
    text
}

fn push_ignored(text: &mut String, summary: &Summary) {
    if summary.ignored_reasons.is_empty() {
        return;
    }
    text.push_str("\nignored\n");
    for ignored in &summary.ignored_reasons {
        // Later lines are indented under the first, so that they are not read as another reason.
        let reason = ignored.reason.trim().replace('\n', "\n    ");
        // A reason of the suite may name its device itself.
        let names_device =
            ignored.engine.is_none() && reason.starts_with(&format!("{}: ", ignored.device));
        let prefix = format!(
            "{}: ",
            on_engine(
                ignored.device,
                ignored.device_index,
                ignored.engine.as_deref()
            )
        );
        let prefix = if names_device { "" } else { &prefix };
        let checks = plural(ignored.checks, "check");
        let models = named(&ignored.models);
        writeln!(text, "  {prefix}{reason} ({checks} of {models})")
            .expect("a String can always be written");
    }
}

/// Limits the lines per kind.
fn push_problems(text: &mut String, problems: &[ReportProblem]) {
    for group in problems.chunk_by(|a, b| a.kind() == b.kind()) {
        text.extend(
            group
                .iter()
                // A suite that crashed leaves hundreds of checks without an entry.
                .take(PROBLEMS_SHOWN)
                .map(|problem| format!("  {problem}\n")),
        );
        if group.len() > PROBLEMS_SHOWN {
            text.push_str(&format!(
                "  and {} more of this kind\n",
                group.len() - PROBLEMS_SHOWN
            ));
        }
    }
}

fn named(models: &BTreeSet<String>) -> String {
    if models.len() > MODELS_NAMED {
        return plural(models.len(), "model");
    }
    models
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn result(summary: &Summary) -> String {
    let outcome = if summary.green { "passed" } else { "FAILED" };
    let Summary {
        passed,
        failed,
        ignored,
        ..
    } = summary;
    // `failed` counts every failure, `failures` has only the unexpected ones.
    let as_expected = failed - summary.failures.len();
    let as_expected = if as_expected == 0 {
        String::new()
    } else {
        format!(" ({as_expected} as expected)")
    };
    let problems = match summary.problems.len() {
        0 => String::new(),
        count => format!(", {}", plural(count, "problem")),
    };
    format!(
        "result: {outcome}: {} passed, {failed} failed{as_expected}, {ignored} ignored{problems}\n",
        plural(*passed, "check")
    )
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

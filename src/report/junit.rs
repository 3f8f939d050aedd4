//! A merged report as JUnit XML: one suite for each device, one case for each check.
//!
//! JUnit has the states passed, failed and skipped. An expected failure is skipped, an unexpected
//! pass fails; mock and fallback appear as the type of the failure or in the message, a simulation
//! in the name of the suite and as a property.

use crate::results::read::{Column, MergedEntry, MergedReport, ResultStatus};
use testgen_base::text::{push_line, xml_escape};
use testgen_types::ReportEntry;

/// The whole report. Problems of the report itself form a separate failing suite, so that no viewer
/// shows it as green.
pub fn render_junit(merged: &MergedReport) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let red = merged
        .entries
        .iter()
        .filter(|entry| entry.evaluation.red)
        .count()
        + merged.problems.len();
    // Problems count as cases, because viewers compare the sum with the suites.
    let cases = merged.entries.len() + merged.problems.len();
    push_line(
        &mut text,
        format_args!(
            "<testsuites name=\"testgen\" tests=\"{cases}\" failures=\"{red}\" errors=\"0\">"
        ),
    );
    for (index, column) in merged.columns.iter().enumerate() {
        let entries: Vec<&MergedEntry> = merged
            .entries
            .iter()
            .filter(|entry| entry.column == index)
            .collect();
        push_suite(&mut text, column, &entries);
    }
    push_problems(&mut text, &merged.problems);
    text.push_str("</testsuites>\n");
    text
}

fn push_suite(text: &mut String, column: &Column, entries: &[&MergedEntry]) {
    let failures = entries.iter().filter(|entry| entry.evaluation.red).count();
    let skipped = entries.iter().filter(|entry| is_skipped(entry)).count();
    let seconds: f64 = entries
        .iter()
        .map(|entry| entry.entry.milliseconds / 1e3)
        .sum();
    let name = xml_escape(&column.label());
    let count = entries.len();
    push_line(
        text,
        format_args!(
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" \
             time=\"{seconds:.3}\">"
        ),
    );
    // Before the cases: one of the schemas of JUnit fixes this order.
    let simulated = column.simulated;
    push_line(
        text,
        format_args!(
            "    <properties><property name=\"simulated\" value=\"{simulated}\"/></properties>"
        ),
    );
    entries.iter().for_each(|entry| push_case(text, entry));
    text.push_str("  </testsuite>\n");
}

fn push_case(text: &mut String, entry: &MergedEntry) {
    let ReportEntry {
        architecture,
        model,
        milliseconds,
        ..
    } = &entry.entry;
    // Viewers split a class at its dots, so models are grouped by architecture.
    let (class, name) = (format!("{architecture}.{model}"), entry.entry.test_name());
    let case = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        xml_escape(&class),
        xml_escape(&name),
        milliseconds / 1e3
    );
    let message = xml_escape(&message(entry));
    let word = entry.evaluation.status.word();
    // Red first: an expected failure that became red must not be shown as skipped.
    match (entry.evaluation.red, is_skipped(entry)) {
        (true, _) => push_line(
            text,
            format_args!(
                "{case}>\n      <failure type=\"{word}\" message=\"{word}\">{message}</failure>\n    </testcase>"
            ),
        ),
        (false, true) => {
            push_line(
                text,
                format_args!(
                    "{case}>\n      <skipped message=\"{word}: {message}\"/>\n    </testcase>"
                ),
            );
        }
        (false, false) => push_line(text, format_args!("{case}/>")),
    }
}

fn is_skipped(entry: &MergedEntry) -> bool {
    // Mocks and fallbacks that are not red are of checks that the suite ignored.
    let not_run = matches!(
        entry.evaluation.status,
        ResultStatus::Ignored
            | ResultStatus::Fallback
            | ResultStatus::Mock
            | ResultStatus::ExpectedFailure
    );
    not_run && !entry.evaluation.red
}

fn message(entry: &MergedEntry) -> String {
    let reason = entry.entry.reason.clone();
    [entry.evaluation.note.clone(), reason]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("\n")
}

fn push_problems(text: &mut String, problems: &[String]) {
    if problems.is_empty() {
        return;
    }
    let count = problems.len();
    push_line(
        text,
        format_args!(
            "  <testsuite name=\"the report itself\" tests=\"{count}\" failures=\"{count}\" errors=\"0\">"
        ),
    );
    for (index, problem) in problems.iter().enumerate() {
        let problem = xml_escape(problem);
        push_line(
            text,
            format_args!(
                "    <testcase classname=\"report\" name=\"problem {}\">\n      <failure type=\"not trustworthy\" \
                 message=\"not trustworthy\">{problem}</failure>\n    </testcase>",
                index + 1
            ),
        );
    }
    text.push_str("  </testsuite>\n");
}

//! A merged report as JUnit XML: one suite for each device, one case for each check.
//!
//! JUnit knows passed, failed and skipped. An expected failure is skipped, an unexpected pass fails; mock and fallback are
//! told by the type of the failure or the message, a simulation by the name of the suite and a property.

use super::{Column, Entry, Merged, Standing};
use crate::xml::escape;
use std::fmt::Write;

/// The whole report; problems of the report itself are a suite of their own, so that no viewer shows green over them.
pub fn render_junit(merged: &Merged) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let red = merged.entries.iter().filter(|entry| entry.judged.red).count() + merged.problems.len();
    let cases = merged.entries.len() + merged.problems.len();
    push(&mut text, format_args!("<testsuites name=\"testgen\" tests=\"{cases}\" failures=\"{red}\" errors=\"0\">"));
    for (index, column) in merged.columns.iter().enumerate() {
        let entries: Vec<&Entry> = merged.entries.iter().filter(|entry| entry.column == index).collect();
        push_suite(&mut text, column, &entries);
    }
    push_problems(&mut text, &merged.problems);
    text.push_str("</testsuites>\n");
    text
}

fn push_suite(text: &mut String, column: &Column, entries: &[&Entry]) {
    let failures = entries.iter().filter(|entry| entry.judged.red).count();
    let skipped = entries.iter().filter(|entry| is_skipped(entry)).count();
    let seconds: f64 = entries.iter().map(|entry| entry.record.milliseconds / 1e3).sum();
    let name = escape(&column.label());
    let count = entries.len();
    push(
        text,
        format_args!(
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" \
             time=\"{seconds:.3}\">"
        ),
    );
    let simulated = column.simulated;
    push(text, format_args!("    <properties><property name=\"simulated\" value=\"{simulated}\"/></properties>"));
    entries.iter().for_each(|entry| push_case(text, entry));
    text.push_str("  </testsuite>\n");
}

fn push_case(text: &mut String, entry: &Entry) {
    let record = &entry.record;
    let (class, name) = (format!("{}.{}", record.architecture, record.model), record.test_name());
    let case = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escape(&class),
        escape(&name),
        record.milliseconds / 1e3
    );
    let message = escape(&message(entry));
    let word = entry.judged.standing.word();
    match (entry.judged.red, is_skipped(entry)) {
        (true, _) => push(
            text,
            format_args!(
                "{case}>\n      <failure type=\"{word}\" message=\"{word}\">{message}</failure>\n    </testcase>"
            ),
        ),
        (false, true) => {
            push(text, format_args!("{case}>\n      <skipped message=\"{word}: {message}\"/>\n    </testcase>"));
        }
        (false, false) => push(text, format_args!("{case}/>")),
    }
}

fn is_skipped(entry: &Entry) -> bool {
    let not_run = matches!(entry.judged.standing, Standing::Ignored | Standing::Fallback | Standing::ExpectedFailure);
    not_run && !entry.judged.red
}

fn message(entry: &Entry) -> String {
    let reason = entry.record.reason.clone();
    [entry.judged.note.clone(), reason].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn push_problems(text: &mut String, problems: &[String]) {
    if problems.is_empty() {
        return;
    }
    let count = problems.len();
    push(
        text,
        format_args!("  <testsuite name=\"the report itself\" tests=\"{count}\" failures=\"{count}\" errors=\"0\">"),
    );
    for (index, problem) in problems.iter().enumerate() {
        let problem = escape(problem);
        push(
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

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String can always be written");
}

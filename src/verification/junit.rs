//! A verification as JUnit XML: one case for each rule, which fails with all its findings.

use super::{
    Verification,
    entry::{FindingEntry, FindingKind, entries, kinds},
};
use std::fmt::Write;
use testgen_base::text::xml_escape;

/// The whole document, ending in a line break.
pub fn render_junit(verification: &Verification) -> String {
    let (entries, kinds) = (entries(verification), kinds());
    let cases: String = kinds.iter().map(|kind| case(kind, &entries)).collect();
    let failures = kinds
        .iter()
        .filter(|kind| entries.iter().any(|entry| entry.rule == kind.name))
        .count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\"",
        kinds.len()
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"testgen\" {counts}>\n  \
         <testsuite name=\"verify\" {counts} skipped=\"0\">\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

fn case(kind: &FindingKind, entries: &[FindingEntry<'_>]) -> String {
    let found: Vec<&FindingEntry<'_>> = entries
        .iter()
        .filter(|entry| entry.rule == kind.name)
        .collect();
    let case = format!(
        "    <testcase classname=\"testgen.verify\" name=\"{}\"",
        kind.name
    );
    // A rule without findings is a passed case, so that viewers show what was verified.
    if found.is_empty() {
        return format!("{case}/>\n");
    }
    let mut text = String::new();
    for FindingEntry {
        path,
        line,
        column,
        message,
        help,
        ..
    } in &found
    {
        writeln!(text, "{path}:{line}:{column}: {message}\n  help: {help}")
            .expect("a String can always be written");
    }
    let (summary, text) = (xml_escape(kind.summary), xml_escape(&text));
    format!(
        "{case}>\n      <failure type=\"{}\" message=\"{summary}\">{text}</failure>\n    </testcase>\n",
        kind.name
    )
}

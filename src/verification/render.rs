//! A verification as text for a terminal and as JSON.

use super::{
    ProjectIssue, Verification,
    entry::{FindingEntry, entries},
};
use serde::Serialize;
use std::fmt::Write;
use testgen_base::text::{Count, Quoted};
use testgen_verify::{RepeatedFinding, also_in, collapse};

/// Every finding and issue, then the summary.
pub fn render_human(verification: &Verification) -> String {
    let mut text = testgen_verify::render_human(&verification.findings, &|path: &str| {
        verification.texts.get(path).cloned()
    });
    let issues = collapse(verification.issues.iter().collect(), |issue| {
        (issue.kind, &issue.message, &issue.help)
    });
    for RepeatedFinding {
        first:
            ProjectIssue {
                path,
                line,
                kind,
                message,
                help,
            },
        others,
    } in issues
    {
        let (path, message) = (Quoted(path).bare(), message.trim_end());
        let others = also_in(others.iter().map(|other| Quoted(&other.path).bare()));
        let others = if others.is_empty() {
            others
        } else {
            format!(" {others}")
        };
        writeln!(
            text,
            "error[{kind}]: {message}\n --> {path}:{line}:1\n{others}  = why: {}\n  = help: {help}\n",
            kind.summary()
        )
        .expect("a String can always be written");
    }
    text.push_str(&summary_line(verification));
    text
}

/// The number of files, renderings and findings.
pub(super) fn summary_line(verification: &Verification) -> String {
    let rules = testgen_verify::rules().len();
    let findings = match verification.count() {
        0 => "no findings".to_owned(),
        count => Count(count, "finding").to_string(),
    };
    let files = Count(verification.files, "generated file");
    let renders = match verification.renders {
        0 => String::new(),
        1 => " and 1 rendering of a template".to_owned(),
        renders => format!(" and {renders} renderings of templates"),
    };
    format!(
        "verify: {findings} in {files}{renders}, by {}\n",
        Count(rules, "rule")
    )
}

/// The JSON form; adding a field is compatible, changing one raises the version.
#[derive(Serialize)]
struct VerificationDocument<'a> {
    version: u32,
    files: usize,
    renders: usize,
    rules: usize,
    findings: Vec<FindingEntry<'a>>,
}

/// One object, ended by a line break, with everything sorted by path and position.
pub fn render_json(verification: &Verification) -> String {
    let findings = entries(verification);
    let Verification { files, renders, .. } = *verification;
    let document = VerificationDocument {
        version: 1,
        files,
        renders,
        rules: testgen_verify::rules().len(),
        findings,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("words and numbers are JSON");
    text.push('\n');
    text
}

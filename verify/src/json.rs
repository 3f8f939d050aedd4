//! Findings as JSON, for programs.

use crate::finding::Finding;

/// The document that [`render_json`] writes.
#[derive(serde::Serialize)]
struct FindingsDocument<'a> {
    version: u32,
    findings: Vec<&'a Finding>,
}

/// `{"version": 1, "findings": [{"rule", "path", "line", "column", "end_column", "message", "help"}]}`,
/// sorted by path, place and rule, with a line feed at the end. A field may be added; a change of a
/// field raises `version`.
pub fn render_json(findings: &[Finding]) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| {
        (
            &finding.path,
            finding.line,
            finding.column,
            finding.rule,
            &finding.message,
        )
    });
    let document = FindingsDocument {
        version: 1,
        findings: sorted,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("strings and numbers are JSON");
    text.push('\n');
    text
}

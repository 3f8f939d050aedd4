//! Findings and project issues in one sorted list, for machine-readable formats.

use super::{IssueKind, ProjectIssue, Verification};
use serde::Serialize;

/// A finding or a project issue; `rule` is the name of the rule or of the kind of issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct FindingEntry<'a> {
    pub(super) path: &'a str,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) end_column: usize,
    pub(super) rule: &'static str,
    pub(super) message: &'a str,
    pub(super) help: &'a str,
}

/// A rule of the verifier, or a kind of project issue.
pub(super) struct FindingKind {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// The rationale and how to fix a violation; empty for a project issue, whose summary is
    /// sufficient.
    pub(super) explanation: &'static str,
}

/// Every finding and issue, sorted by path and position.
pub(super) fn entries(verification: &Verification) -> Vec<FindingEntry<'_>> {
    let findings = verification.findings.iter().map(|finding| FindingEntry {
        path: &finding.path,
        line: finding.line,
        column: finding.column,
        end_column: finding.end_column,
        rule: finding.rule.as_str(),
        message: &finding.message,
        help: &finding.help,
    });
    let issues = verification.issues.iter().map(
        |ProjectIssue {
             path,
             line,
             kind,
             message,
             help,
         }| FindingEntry {
            path,
            line: *line,
            // An issue has a line and no column: the first character represents it.
            column: 1,
            end_column: 2,
            rule: kind.as_str(),
            message,
            help,
        },
    );
    let mut entries: Vec<FindingEntry<'_>> = findings.chain(issues).collect();
    entries.sort_by_key(|entry| (entry.path, entry.line, entry.column, entry.rule));
    entries
}

/// Every kind, the rules first, in the order of the documentation.
pub(super) fn kinds() -> Vec<FindingKind> {
    let rules = testgen_verify::rules().iter();
    let rules = rules.map(|rule| FindingKind {
        name: rule.name,
        summary: &rule.summary,
        explanation: rule.explanation.as_str(),
    });
    let issues = IssueKind::ALL.iter();
    let issues = issues.map(|kind| FindingKind {
        name: kind.as_str(),
        summary: kind.summary(),
        explanation: "",
    });
    rules.chain(issues).collect()
}

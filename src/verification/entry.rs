//! Findings and gaps in one sorted list, for the formats that programs read.

use super::{Gap, GapKind, Verification};
use serde::Serialize;

/// A finding or a gap; `rule` is the rule's or the gap's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Entry<'a> {
    pub(super) path: &'a str,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) end_column: usize,
    pub(super) rule: &'static str,
    pub(super) message: &'a str,
    pub(super) help: &'a str,
}

/// What can be found: a rule of the verifier, or a kind of gap.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// Why, and how to mend it; empty for a gap, whose summary says it all.
    pub(super) explanation: &'static str,
}

/// Every finding and gap, sorted by path and place.
pub(super) fn entries(verification: &Verification) -> Vec<Entry<'_>> {
    let findings = verification.findings.iter().map(|finding| Entry {
        path: &finding.path,
        line: finding.line,
        column: finding.column,
        end_column: finding.end_column,
        rule: finding.rule.as_str(),
        message: &finding.message,
        help: &finding.help,
    });
    let gaps = verification.gaps.iter().map(|Gap { path, line, kind, message, help }| Entry {
        path,
        line: *line,
        column: 1,
        end_column: 2,
        rule: kind.as_str(),
        message,
        help,
    });
    let mut entries: Vec<Entry<'_>> = findings.chain(gaps).collect();
    entries.sort_by_key(|entry| (entry.path, entry.line, entry.column, entry.rule));
    entries
}

/// Every kind there is, the rules first, in the order of the documentation.
pub(super) fn kinds() -> Vec<Kind> {
    let rules = testgen_verify::rules().iter();
    let rules =
        rules.map(|rule| Kind { name: rule.name, summary: rule.summary, explanation: rule.explanation.as_str() });
    let gaps = GapKind::ALL.iter();
    let gaps = gaps.map(|kind| Kind { name: kind.as_str(), summary: kind.summary(), explanation: "" });
    rules.chain(gaps).collect()
}

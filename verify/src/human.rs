//! Renders findings for a terminal, in the style of the Rust compiler.

use crate::{finding::Finding, registry::explain};
use std::{collections::BTreeMap, fmt::Write as _};

/// The number of characters shown of a source line.
const MAX_LINE: usize = 160;
/// Up to this number, the same finding in several files is shown in each.
const MAX_SHOWN: usize = 3;

/// Every finding with its message, its position, the source line with a mark below, the rationale,
/// and how to fix it; sorted by path and position. `sources` returns the text of a path; without
/// it, the line is omitted.
///
/// The same finding in many files is shown once, with the other files: a hundred stale headers
/// would hide a single other finding among them.
pub fn render_human(findings: &[Finding], sources: &dyn Fn(&str) -> Option<String>) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    // Not the derived order, which begins with the rule: a reader goes through a file from top to
    // bottom.
    sorted.sort_by_key(|finding| {
        (
            &finding.path,
            finding.line,
            finding.column,
            finding.rule,
            &finding.message,
        )
    });
    let mut texts: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut out = String::new();
    for RepeatedFinding {
        first: finding,
        others,
    } in collapse(sorted, |finding| {
        (finding.rule, &finding.message, &finding.help)
    }) {
        let text = texts
            .entry(&finding.path)
            .or_insert_with(|| sources(&finding.path));
        let line = text
            .as_deref()
            .and_then(|text| text.lines().nth(finding.line - 1));
        write_finding(
            &mut out,
            finding,
            line,
            others.iter().map(|other| printable(&other.path)),
        );
    }
    out
}

/// Findings that differ only in their place.
#[derive(Debug)]
pub struct RepeatedFinding<T> {
    /// The one that is shown in full.
    pub first: T,
    /// The others; empty where there are few, because then each is shown in full.
    pub others: Vec<T>,
}

/// Groups what has the same key, if it occurs more often than a reader can survey. Keeps the order
/// of `all`.
pub fn collapse<T: Copy, K: Ord>(all: Vec<T>, key: impl Fn(T) -> K) -> Vec<RepeatedFinding<T>> {
    let mut groups: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for &one in &all {
        groups.entry(key(one)).or_default().push(one);
    }
    let mut shown = Vec::new();
    for one in all {
        match groups.get_mut(&key(one)) {
            Some(group) if group.len() > MAX_SHOWN => {
                let mut others = std::mem::take(group);
                shown.push(RepeatedFinding {
                    first: others.remove(0),
                    others,
                });
            }
            // The group was shown with its first member.
            Some(group) if group.is_empty() => {}
            _ => shown.push(RepeatedFinding {
                first: one,
                others: Vec::new(),
            }),
        }
    }
    shown
}

/// The line that names the other places of a finding, up to a number of them; empty without others.
pub fn also_in(mut others: impl ExactSizeIterator<Item = String>) -> String {
    let count = others.len();
    if count == 0 {
        return String::new();
    }
    let named: Vec<String> = others.by_ref().take(MAX_SHOWN).collect();
    let more = match count - named.len() {
        0 => String::new(),
        more => format!(" and {more} more; `--format json` lists all"),
    };
    format!(" = also in {}{more}\n", named.join(", "))
}

fn write_finding(
    out: &mut String,
    finding: &Finding,
    line: Option<&str>,
    others: impl ExactSizeIterator<Item = String>,
) {
    let Finding {
        rule,
        path,
        line: number,
        column,
        end_column,
        message,
        help,
    } = finding;
    let margin = " ".repeat(number.to_string().len());
    let _ = writeln!(out, "error[{rule}]: {}", printable(message));
    let _ = writeln!(out, "{margin}--> {}:{number}:{column}", printable(path));
    if let Some(line) = line {
        // Cut by characters: columns count characters, and a byte offset may be inside of one.
        let shown: String = printable(line).chars().take(MAX_LINE).collect();
        let _ = writeln!(out, "{margin} |\n{number} | {}", shown.trim_end());
        let width = shown.chars().count();
        if *column <= width {
            // The line is cut at `MAX_LINE`, so the finding may end after its shown part.
            let mark = "^".repeat((*end_column).min(width + 1).saturating_sub(*column).max(1));
            let _ = writeln!(out, "{margin} | {}{mark}", " ".repeat(column - 1));
        }
    }
    let why = explain(rule.as_str())
        .map(|rule| rule.summary.as_str())
        .unwrap_or_default();
    for note in also_in(others).lines() {
        let _ = writeln!(out, "{margin}{note}");
    }
    let _ = writeln!(out, "{margin} = why: {why}");
    let _ = writeln!(out, "{margin} = help: {}\n", printable(help));
}

/// `text` with control characters replaced by spaces, so that a source cannot control the terminal.
fn printable(text: &str) -> String {
    // One space for each, so that the mark below the line keeps its column.
    text.chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect()
}

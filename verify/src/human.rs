//! Findings for people, in the manner of the Rust compiler.

use crate::{Finding, explain};
use std::{collections::BTreeMap, fmt::Write as _};

/// How much of a source line is shown.
const MAX_LINE: usize = 160;

/// Every finding with its message, its place, the line of the source with a mark below, why it matters, and how to mend
/// it; sorted by path and place. `sources` gives the text of a path; without it, the line is left out.
pub fn render_human(findings: &[Finding], sources: &dyn Fn(&str) -> Option<String>) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| (&finding.path, finding.line, finding.column, finding.rule, &finding.message));
    let mut texts: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut out = String::new();
    for finding in sorted {
        let text = texts.entry(&finding.path).or_insert_with(|| sources(&finding.path));
        let line = text.as_deref().and_then(|text| text.lines().nth(finding.line - 1));
        write_finding(&mut out, finding, line);
    }
    out
}

fn write_finding(out: &mut String, finding: &Finding, line: Option<&str>) {
    let Finding { rule, path, line: number, column, end_column, message, help } = finding;
    let margin = " ".repeat(number.to_string().len());
    let _ = writeln!(out, "error[{rule}]: {}", printable(message));
    let _ = writeln!(out, "{margin}--> {}:{number}:{column}", printable(path));
    if let Some(line) = line {
        let shown: String = printable(line).chars().take(MAX_LINE).collect();
        let _ = writeln!(out, "{margin} |\n{number} | {}", shown.trim_end());
        let width = shown.chars().count();
        if *column <= width {
            let mark = "^".repeat((*end_column).min(width + 1).saturating_sub(*column).max(1));
            let _ = writeln!(out, "{margin} | {}{mark}", " ".repeat(column - 1));
        }
    }
    let why = explain(rule.as_str()).map(|rule| rule.summary).unwrap_or_default();
    let _ = writeln!(out, "{margin} = why: {why}");
    let _ = writeln!(out, "{margin} = help: {}\n", printable(help));
}

/// `text` with every control character as a space, so that a source cannot steer the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

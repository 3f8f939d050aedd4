//! A verification as SARIF 2.1.0, which code hosts show next to the code.

use super::{
    Verification,
    entry::{FindingEntry, FindingKind, entries, kinds},
};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One run with every rule and every finding, ending in a line break.
pub fn render_sarif(verification: &Verification) -> String {
    let kinds = kinds();
    let entries = entries(verification);
    let results: Vec<Value> = entries.iter().map(|entry| result(entry, &kinds)).collect();
    let driver = json!({ "name": "testgen", "rules": kinds.iter().map(rule).collect::<Vec<_>>() });
    // SARIF also has columns in UTF-16 code units; the columns of findings count characters.
    let run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    let mut text = serde_json::to_string_pretty(&log).expect("words and numbers are JSON");
    text.push('\n');
    text
}

fn rule(kind: &FindingKind) -> Value {
    let FindingKind {
        name,
        summary,
        explanation,
    } = kind;
    // Without an explanation the summary: a viewer would show an empty help.
    let help = if explanation.is_empty() {
        summary
    } else {
        explanation
    };
    json!({
        "id": name,
        "shortDescription": { "text": summary },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(entry: &FindingEntry<'_>, kinds: &[FindingKind]) -> Value {
    let FindingEntry {
        path,
        line,
        column,
        end_column,
        rule,
        message,
        help,
    } = entry;
    let index = kinds.iter().position(|kind| kind.name == *rule);
    json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": format!("{message}\nhelp: {help}") },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(path) },
            "region": { "startLine": line, "startColumn": column, "endColumn": end_column },
        } }],
    })
}

/// A path as a relative reference: characters that a URI does not allow, and `:`, which would end a
/// scheme, as `%xx`.
fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_relative_references() {
        assert_eq!(uri("generated/src/a-b_c.rs"), "generated/src/a-b_c.rs");
        assert_eq!(uri("a b:é%\n"), "a%20b%3A%C3%A9%25%0A");
    }
}

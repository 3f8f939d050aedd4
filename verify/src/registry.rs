//! All rules with their documentation and their functions. A rule is one file below `rule/`; the
//! docs at its top are the user's documentation. Does not own their names (`rule_id`).

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    rule,
    rule_id::{RuleId, for_each_rule},
};
use std::sync::LazyLock;

/// A property that every harness must have.
#[derive(Debug)]
pub struct Rule {
    /// Its identity in findings.
    pub id: RuleId,
    /// Its name as users write it.
    pub name: &'static str,
    /// The requirement, in one sentence.
    pub summary: String,
    /// The rationale and how to fix a violation, in Markdown.
    pub explanation: String,
    pub(crate) check: fn(&ParsedHarness<'_>) -> Vec<Diagnostic>,
}

macro_rules! registry {
    ($($id:ident = $name:ident),+) => {
        static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| vec![
            // The text of the rule's own file, so that the printed explanation cannot differ from
            // it.
            $(Rule::new(RuleId::$id, include_str!(concat!("rule/", stringify!($name), ".rs")), rule::$name::check)),+
        ]);
    };
}
for_each_rule!(registry);

/// Every rule, in the order of the documentation.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// The rule with this name.
pub fn explain(name: &str) -> Option<&'static Rule> {
    rules().iter().find(|rule| rule.name == name)
}

impl Rule {
    /// Takes the summary, which is the first paragraph, and the explanation from the docs at the
    /// top of the rule's file.
    fn new(
        id: RuleId,
        file: &'static str,
        check: fn(&ParsedHarness<'_>) -> Vec<Diagnostic>,
    ) -> Self {
        let docs: Vec<&str> = file
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        let summary_lines = docs.iter().take_while(|line| !line.is_empty()).count();
        let summary = docs[..summary_lines].join(" ");
        let explanation = docs[summary_lines..].join("\n").trim().to_owned();
        Self {
            id,
            name: id.as_str(),
            summary,
            explanation,
            check,
        }
    }
}

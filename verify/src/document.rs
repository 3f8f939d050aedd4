//! docs/reference/rules.md, written from the rules' own documentation.

use crate::registry::rules;
use std::fmt::Write as _;

const HEAD: &str = "\
# Rules

<!-- Generated from the docs at the top of verify/src/rule/*.rs; update it with `UPDATE_DOCS=1 cargo test -p testgen-verify`. -->

`testgen verify` parses every harness, follows every path through its functions, and applies these rules. It does not search
the text: a call counts when it is made on every path that needs it, with the value that it must receive. Code that the
verifier cannot follow is a finding, too. `testgen show rules RULE` prints one of these chapters.
";

/// The text of docs/reference/rules.md.
pub fn rules_markdown() -> String {
    let mut text = HEAD.to_owned();
    text.push('\n');
    // The requirement is printed by the chapter alone, which then says the same as `testgen show`.
    for rule in rules() {
        let _ = writeln!(text, "- [{0}](#{0})", rule.name);
    }
    for rule in rules() {
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\n{}\n",
            rule.name, rule.summary, rule.explanation
        );
    }
    text
}

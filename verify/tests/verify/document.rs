//! The rules' documentation is complete, and docs/reference/rules.md is what they say.

use std::{env, fs, path::PathBuf};
use testgen_verify::{explain, rules, rules_markdown};

#[test]
fn rules_markdown_is_current() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/rules.md");
    let text = rules_markdown();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("docs/ can be made");
        fs::write(&path, &text).expect("docs/reference/rules.md can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/rules.md is stale; run `UPDATE_DOCS=1 cargo test -p testgen-verify rules_markdown`"
    );
}

#[test]
fn every_rule_explains_itself() {
    for rule in rules() {
        assert!(
            rule.summary.ends_with('.'),
            "{}: the summary is one sentence",
            rule.name
        );
        assert!(
            rule.explanation.len() > 150,
            "{}: say why, and how to fix it",
            rule.name
        );
        assert_eq!(explain(rule.name).map(|found| found.id), Some(rule.id));
        assert_eq!(rule.id.to_string(), rule.name);
    }
    assert!(explain("nonsense").is_none());
}

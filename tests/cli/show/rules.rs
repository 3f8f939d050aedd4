//! `testgen show rules`: every rule of the verifier has an explanation.

use crate::project::Project;

#[test]
fn every_rule_is_listed_and_explained() {
    let project = Project::empty();
    let list = project.run(&["show", "rules"]).expect_code(0).stdout;
    assert_eq!(list.lines().count(), testgen_verify::rules().len());
    for rule in testgen_verify::rules() {
        assert!(list.contains(rule.name), "{}", rule.name);
        let text = project
            .run(&["show", "rules", rule.name])
            .expect_code(0)
            .stdout;
        assert!(
            text.starts_with(&format!("{}: {}\n\n", rule.name, rule.summary)),
            "{text}"
        );
        assert!(
            text.len() > 100,
            "an explanation has more than a line: {text}"
        );
    }
}

#[test]
fn an_unknown_rule_leads_to_the_nearest() {
    let name = testgen_verify::rules()
        .first()
        .expect("there are rules")
        .name;
    let outcome = Project::empty()
        .run(&["show", "rules", &name[..name.len() - 1]])
        .expect_code(2);
    assert!(
        outcome.stderr.contains(&format!("did you mean `{name}`?")),
        "{}",
        outcome.stderr
    );
}

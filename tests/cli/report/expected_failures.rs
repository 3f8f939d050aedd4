//! Expected failures, in testgen.toml and in specs.

use crate::{
    project::Project,
    seeded::{line, on},
};

#[test]
fn expected_failures_are_excused_until_they_expire_and_unexpected_passes_are_red() {
    let project = Project::empty();
    let device = on("A host processor");
    let fail = |model: &str| {
        line(
            model,
            "cpu",
            "finite",
            "f32",
            "fail",
            &format!("{device}\"reason\":\"NaN\","),
        )
    };
    project.write(
        "r/a.jsonl",
        fail("known") + &line("fixed", "cpu", "finite", "f32", "pass", &device),
    );
    let entry = |model: &str, expires: &str| {
        format!(
            "[[xfail]]\nmodel = \"{model}\"\ncheck = \"finite\"\nreason = \"overflow\"\nowner = \"kernels\"\nexpires = \
             \"{expires}\"\n"
        )
    };
    let run = |toml: &str, code| {
        project.write("testgen.toml", toml);
        project
            .run(&["report", "r", "--format", "markdown"])
            .expect_code(code)
            .stdout
    };
    let excused = run(&entry("known", "9999-12-31"), 0);
    assert!(
        excused.contains("overflow (owner kernels, expires 9999-12-31)"),
        "{excused}"
    );
    let expired = run(&entry("known", "2020-01-01"), 1);
    assert!(expired.contains("no longer expected to fail"), "{expired}");
    let unexpected = run(
        &(entry("known", "9999-12-31") + &entry("fixed", "9999-12-31")),
        1,
    );
    assert!(unexpected.contains("! unexpected pass"), "{unexpected}");
    insta::assert_snapshot!([excused, expired, unexpected].join("---\n"));
}

#[test]
fn a_spec_expects_failures_too() {
    let project = Project::empty();
    let xfail = "checks:\n  xfail:\n    - { check: finite, reason: overflow, owner: me, expires: \"9999-12-31\" }\n";
    project.write(
        "model_specs/encoder_only/bert.yaml",
        format!("{}{xfail}", crate::project::BERT),
    );
    let failure = format!("{}\"reason\":\"NaN\",", on("A host processor"));
    project.write(
        "r/a.jsonl",
        line("bert", "cpu", "finite", "f32", "fail", &failure),
    );
    let text = project
        .run(&["report", "r", "--format", "junit"])
        .expect_code(0)
        .stdout;
    assert!(
        text.contains(
            "<skipped message=\"expected failure: overflow (owner me, expires 9999-12-31)"
        ),
        "{text}"
    );
    for (wrong, right) in [
        ("9999-12-31", "9999-12-32"),
        ("owner: me, ", ""),
        ("finite", "causal_leak"),
    ] {
        project.write(
            "model_specs/encoder_only/bert.yaml",
            format!("{}{}", crate::project::BERT, xfail.replace(wrong, right)),
        );
        project.run(&["report", "r"]).expect_code(2);
    }
}

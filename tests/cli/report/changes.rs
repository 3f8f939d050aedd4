//! `testgen report --by changes`: the change of each check, and an exit code for CI.

mod kernels;

use crate::{
    project::Project,
    seeded::{line, on, outputs, seed, tensor},
};

fn golden(error: f64) -> String {
    format!(
        "{}{}",
        on("A host processor"),
        outputs(&[tensor("logits", Some(error), "")])
    )
}

/// Report A and report B of five checks, one for each change.
fn two_reports() -> Project {
    let project = Project::empty();
    let output = |model: &str, rest: &str| line(model, "cpu", "output_golden", "f32", "pass", rest);
    let a = [
        output("same", &golden(1e-4)),
        output("worse", &golden(1e-4)),
        output("better", &golden(8e-4)),
    ];
    let b = [
        output("same", &golden(1.2e-4)),
        output("worse", &golden(8e-4)),
        output("better", &golden(1e-4)),
    ];
    project.write("a.jsonl", a.concat() + &output("lost", &golden(1e-4)));
    project.write("b.jsonl", b.concat() + &output("new", &golden(1e-4)));
    project
}

#[test]
fn every_change_is_shown() {
    let project = two_reports();
    let run = |format: &str| {
        project
            .run(&[
                "report", "b.jsonl", "--base", "a.jsonl", "--by", "changes", "--format", format,
            ])
            .expect_code(1)
            .stdout
    };
    insta::assert_snapshot!([run("human"), run("markdown"), run("json")].join("---\n"));
}

#[test]
fn the_same_change_of_many_models_is_one_row() {
    let project = Project::empty();
    let text = |models: usize, error: f64| -> String {
        let output = |model: usize| {
            line(
                &format!("bert_{model}"),
                "cpu",
                "output_golden",
                "f32",
                "pass",
                &golden(error),
            )
        };
        (0..models).map(output).collect()
    };
    let finite = line(
        "llama",
        "cpu",
        "finite",
        "f32",
        "pass",
        &on("A host processor"),
    );
    project.write("a.jsonl", text(50, 1e-4) + &finite);
    project.write("b.jsonl", text(50, 8e-4));
    let run = |format: &str| {
        project
            .run(&[
                "report", "b.jsonl", "--base", "a.jsonl", "--by", "changes", "--format", format,
            ])
            .expect_code(1)
            .stdout
    };
    let human = run("human");
    let rows: Vec<&str> = human
        .lines()
        .filter(|line| line.starts_with("worse ") || line.starts_with("only "))
        .collect();
    assert_eq!(rows.len(), 2, "{human}");
    assert!(
        rows[0].contains("cpu::output_golden_f32 of 50 models: bert_0, bert_10, bert_11, ..."),
        "{human}"
    );
    assert!(
        rows[0].ends_with("`logits`: error 1.00e-4, now 8.00e-4"),
        "{human}"
    );
    assert!(
        rows[1].contains("decoder_only::llama::cpu::finite_f32 "),
        "{human}"
    );
    assert!(
        human.contains("result: WORSE: 50 worse, 1 only in the first"),
        "{human}"
    );
    let markdown = run("markdown");
    assert!(
        markdown.contains("| worse | `cpu::output_golden_f32` of 50 models: bert_0,"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&run("json")).expect("is JSON");
    assert_eq!(json["checks"].as_array().map(Vec::len), Some(51));
}

#[test]
fn nothing_worse_is_success_and_nothing_to_compare_is_not() {
    let project = two_reports();
    project
        .run(&["report", "a.jsonl", "--base", "a.jsonl", "--by", "changes"])
        .expect_code(0);
    project
        .run(&[
            "report", "b.jsonl", "--base", "a.jsonl", "--by", "changes", "--factor", "100",
        ])
        .expect_code(1);
    let nothing = project
        .run(&[
            "report",
            "a.jsonl",
            "--base",
            "a.jsonl",
            "--by",
            "changes",
            "--devices",
            "cuda,rocm",
        ])
        .expect_code(1)
        .stdout;
    assert!(nothing.contains("NOTHING TO COMPARE"), "{nothing}");
    assert!(
        nothing.contains("first report:  cpu: A host processor\n"),
        "{nothing}"
    );
    assert!(
        nothing.contains("help: choose a device of each report with `--devices`"),
        "{nothing}"
    );
}

#[test]
fn problems_of_either_report_are_red() {
    let project = two_reports();
    let good = project.read("a.jsonl");
    project.write("damaged.jsonl", good.clone() + "{\n");
    let run = |report: &str, base: &str, more: &[&str]| {
        let arguments = ["report", report, "--base", base, "--by", "changes"];
        project
            .run(&[&arguments, more].concat())
            .expect_code(1)
            .stdout
    };
    for (report, base, name) in [
        ("damaged.jsonl", "a.jsonl", "second"),
        ("a.jsonl", "damaged.jsonl", "first"),
    ] {
        let text = run(report, base, &[]);
        assert!(
            text.contains(&format!("problem: {name} report: "))
                && text.contains("result: INCOMPLETE REPORTS: "),
            "{text}"
        );
    }
    project.write("tests.txt", "decoder_only::absent::cpu::finite_f32\n");
    let more = ["--tests", "tests.txt", "--format", "markdown"];
    let text = run("a.jsonl", "a.jsonl", &more);
    assert!(text.contains("absent::cpu::finite_f32"), "{text}");
}

#[test]
fn two_kinds_of_device_are_compared_check_by_check() {
    let project = Project::empty();
    seed(&project, "r");
    let text = project
        .run(&[
            "report",
            "r",
            "--base",
            "r",
            "--by",
            "changes",
            "--devices",
            "cuda,rocm-sim",
        ])
        .expect_code(1)
        .stdout;
    insta::assert_snapshot!(text);
}

#[test]
fn wrong_usage_is_an_error() {
    let project = two_reports();
    for wrong in [
        ["--devices", "cuda"],
        ["--devices", "cuda,gpu"],
        ["--factor", "0.5"],
        ["--factor", "NaN"],
    ] {
        project
            .run(
                &[
                    &["report", "b.jsonl", "--base", "a.jsonl", "--by", "changes"],
                    wrong.as_slice(),
                ]
                .concat(),
            )
            .expect_code(2);
    }
    project
        .run(&[
            "report",
            "nowhere.jsonl",
            "--base",
            "a.jsonl",
            "--by",
            "changes",
        ])
        .expect_code(2);
}

#[test]
fn a_check_that_stops_running_is_worse() {
    let project = Project::empty();
    let ran = line(
        "bert",
        "rocm",
        "finite",
        "f32",
        "pass",
        &on("AMD Instinct MI300X"),
    );
    project.write("a.jsonl", &ran);
    project.write(
        "b.jsonl",
        line(
            "bert",
            "rocm",
            "finite",
            "f32",
            "ignored",
            "\"reason\":\"absent\",",
        ),
    );
    let text = project
        .run(&["report", "b.jsonl", "--base", "a.jsonl", "--by", "changes"])
        .expect_code(1)
        .stdout;
    assert!(text.contains("pass, now ignored"), "{text}");
    let simulated = format!("{}\"simulated\":true,", on("gfx1100 (hip-sim)"));
    project.write(
        "b.jsonl",
        line("bert", "rocm", "finite", "f32", "pass", &simulated),
    );
    project
        .run(&["report", "b.jsonl", "--base", "a.jsonl", "--by", "changes"])
        .expect_code(1);
}

#[test]
fn a_failure_that_no_longer_runs_is_not_an_improvement() {
    let project = Project::empty();
    let failure = format!("{}\"reason\":\"NaN\",", on("A host processor"));
    let fails = line("bert", "cpu", "finite", "f32", "fail", &failure);
    let ignored = line(
        "bert",
        "cpu",
        "finite",
        "f32",
        "ignored",
        "\"reason\":\"skipped\",",
    );
    for (first, second) in [(&fails, &ignored), (&ignored, &fails)] {
        project.write("a.jsonl", first);
        project.write("b.jsonl", second);
        let text = project
            .run(&["report", "b.jsonl", "--base", "a.jsonl", "--by", "changes"])
            .expect_code(1)
            .stdout;
        assert!(text.contains("result: WORSE: 1 worse"), "{text}");
    }
}

#[test]
fn rows_without_their_base_or_their_format_are_refused() {
    let project = Project::with_bert();
    project.write(
        "a.jsonl",
        line("bert", "cuda", "finite", "f32", "pass", &on("NVIDIA X")),
    );
    let refused = |arguments: &[&str], error: &str| {
        let outcome = project
            .run(&[&["report", "a.jsonl"], arguments].concat())
            .expect_code(2);
        assert!(
            outcome.stderr.contains(error) && outcome.stdout.is_empty(),
            "{}",
            outcome.stderr
        );
    };
    refused(&["--by", "changes"], "`--by changes` needs `--base`");
    refused(
        &["--by", "models", "--format", "junit"],
        "`--by models` has no format `junit`",
    );
    refused(
        &["--by", "models", "--base", "a.jsonl"],
        "`--by models` does not compare reports",
    );
    refused(
        &["--by", "operators", "--format", "html"],
        "`--by operators` has no format `html`",
    );
    refused(
        &["--format", "human"],
        "`--by checks` has no format `human`",
    );
    refused(
        &["--base", "a.jsonl", "--by", "changes", "--format", "html"],
        "`--by changes` has no format `html`",
    );
}

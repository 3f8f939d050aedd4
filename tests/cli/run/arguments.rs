//! Arguments, settings and variables of `testgen run`.

use super::{COMPARED, rows, with_vit};
use crate::{fake::suite::run, project::Project};

#[test]
fn filters_choose_models_architectures_and_devices() {
    let project = with_vit();
    let shown = |arguments: &[&str]| {
        let rows = rows(&run(&project, "", arguments).expect_code(0));
        rows.iter()
            .map(|row| row.split(' ').skip(1).take(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&["--name", "v?t"]), ["vit cpu"]);
    assert_eq!(
        shown(&[
            "--architecture",
            "encoder_only",
            "--device",
            "cpu",
            "--device",
            "rocm"
        ]),
        ["bert cpu", "bert rocm"]
    );
    let none = run(&project, "", &["--name", "gpt*"]).expect_code(2);
    assert!(
        none.stderr.contains("matches the filters"),
        "{}",
        none.stderr
    );
    run(&project, "", &["--architecture", "encoder"]).expect_code(2);
    for device in ["gpu", "cpu:0", "rocm:x"] {
        run(&project, "", &["--device", device]).expect_code(2);
    }
}

#[test]
fn build_flags_and_environment_reach_the_suite() {
    let project = Project::with_bert();
    let log = |report: &str| project.read(format!("{report}.log"));
    let compared = format!(r#"::cpu::|pass|"device_name":"Fake host",{COMPARED}"#);
    let arguments = ["--report", "a/b.jsonl", "--require", "cpu"];
    run(&project, &compared, &arguments).expect_code(0);
    assert!(
        log("a/b.jsonl").contains("require: Ok(\"cpu\")"),
        "{}",
        log("a/b.jsonl")
    );
    assert!(
        log("a/b.jsonl").contains("features: cuda true rocm true encoder_only true"),
        "{}",
        log("a/b.jsonl")
    );
    assert!(
        log("a/b.jsonl").contains("/generated\n"),
        "{}",
        log("a/b.jsonl")
    );
    assert!(
        log("a/b.jsonl").contains("device: Err(NotPresent)"),
        "{}",
        log("a/b.jsonl")
    );
    run(
        &project,
        "",
        &[
            "--report", "d.jsonl", "--device", "rocm:1", "--device", "cpu",
        ],
    )
    .expect_code(0);
    assert!(
        log("d.jsonl").contains("device: Ok(\"rocm:1\")"),
        "{}",
        log("d.jsonl")
    );
    run(
        &project,
        "",
        &["--report", "c.jsonl", "--cpu-only", "--release"],
    )
    .expect_code(0);
    assert!(
        log("c.jsonl").contains("features: cuda false rocm false encoder_only true"),
        "{}",
        log("c.jsonl")
    );
    assert!(
        log("c.jsonl").contains("optimised: true"),
        "{}",
        log("c.jsonl")
    );
    assert!(
        log("c.jsonl").contains("require: Err(NotPresent)"),
        "{}",
        log("c.jsonl")
    );
}

#[test]
fn only_supported_devices_are_simulated() {
    let project = Project::with_bert();
    let wrong = run(&project, "", &["--simulate", "cuda"]).expect_code(2);
    assert!(
        wrong.stderr.contains("only rocm can be simulated"),
        "{}",
        wrong.stderr
    );
    // The directory of the fake runtime contains nothing else.
    let alone = run(&project, "", &["--simulate", "rocm"]).expect_code(3);
    assert!(
        alone
            .stderr
            .contains("`hip-sim` is not next to the runtime"),
        "{}",
        alone.stderr
    );
    assert!(
        !alone.stderr.contains("building"),
        "the suite is not built first: {}",
        alone.stderr
    );
}

#[test]
fn specs_out_and_templates_are_honoured() {
    let project = Project::empty();
    project.write("s/encoder_only/bert.yaml", crate::project::BERT);
    run(&project, "", &["--specs", "s", "--out", "o"]).expect_code(0);
    assert!(project.exists("o/Cargo.toml") && !project.exists("generated"));
    project.write("t/encoder_only.rs.tera", "fn broken( {\n");
    let outcome = run(
        &project,
        "",
        &["--specs", "s", "--out", "o", "--templates", "t"],
    )
    .expect_code(2);
    assert!(
        outcome.stderr.contains("encoder_only.rs.tera"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn quiet_shows_the_result_alone() {
    let outcome = run(&Project::with_bert(), "", &["--quiet"]).expect_code(0);
    assert_eq!(outcome.stderr, "");
    assert!(
        outcome.stdout.starts_with("architecture"),
        "{}",
        outcome.stdout
    );
}

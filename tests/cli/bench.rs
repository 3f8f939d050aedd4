//! `testgen bench`, with a fake runtime that writes given lines.

use crate::{fake::suite, project::Project};
use serde_json::Value;

/// A line of a report of times: the forward pass of a model with a status.
fn bench_rule(test: &str, precision: &str, status: &str) -> String {
    let times = match status {
        "timed" => r#"{"median":2.0,"p5":1.1,"p95":2.9,"milliseconds":[1.0,3.0,2.0,2.0,2.0]}"#,
        _ => "null",
    };
    format!(
        r#"::cpu::{test}|text|{{"version":1,"testgen":"0.1.0","optimised":false,"subject":"bert","config":"00ff","architecture":"encoder_only","device":"cpu","device_index":null,"device_facts":{{"name":"Fake host","architecture":"x86_64","pci_address":null,"driver_version":null,"runtime_version":null,"simulated":false,"tf32":false,"compute_units":null,"clock_mhz":null,"max_clock_mhz":null}},"host":{{"processor":"Fake host","processors":2,"load":0.5}},"engine":null,"engine_versions":null,"precision":"{precision}","measured":"forward","case":null,"batch":2,"tokens":128,"steps":null,"bytes":null,"repetitions":{{"warmup":1,"iterations":3}},"status":"{status}","reason":"element 2 is 1, expected 2","times":{times}}}"#
    )
}

#[test]
fn times_are_shown_and_a_wrong_result_is_red() {
    let project = Project::with_bert();
    let rules = |status| {
        let lines = [
            bench_rule("finite_f32", "f32", "timed"),
            bench_rule("determinism", "bf16", status),
        ];
        lines.join("\n")
    };
    let sizes = ["--batch", "2", "--tokens", "128,512"];
    let repetitions = ["--iterations", "3", "--min-time", "40"];
    let arguments = [
        &["--device", "cpu", "--report", "bench.jsonl"],
        sizes.as_slice(),
        repetitions.as_slice(),
    ]
    .concat();
    let passed = suite::bench(&project, &rules("not_timed"), &arguments).expect_code(0);
    insta::assert_snapshot!(passed.stdout);
    let log = project.read("bench.jsonl.log");
    assert!(
        log.contains(r#"bench: {"subjects":["encoder_only::bert::cpu"],"precisions":[],"batches":[2],"tokens":[128,512],"steps":16,"repetitions":{"warmup":3,"iterations":3,"min_time_ms":40}}"#),
        "{log}"
    );
    assert_eq!(project.read("bench.jsonl").lines().count(), 2);
    let wrong = suite::bench(&project, &rules("wrong"), &arguments).expect_code(1);
    assert!(
        wrong.stdout.contains("wrong, and therefore without a time"),
        "{}",
        wrong.stdout
    );
    let arguments = [arguments.as_slice(), &["--format", "json"]].concat();
    let json = suite::bench(&project, &rules("wrong"), &arguments).expect_code(1);
    let json: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(
        (&json["green"], json["entries"].as_array().map(Vec::len)),
        (&false.into(), Some(2))
    );
}

#[test]
fn starts_are_one_row_and_are_compared_with_starts() {
    let project = Project::with_bert();
    let rule = bench_rule("finite_f32", "f32", "timed");
    let arguments = [
        "--device",
        "cpu",
        "--starts",
        "3",
        "--report",
        "bench.jsonl",
    ];
    let timed = suite::bench(&project, &rule, &arguments).expect_code(0);
    assert_eq!(project.read("bench.jsonl").lines().count(), 3);
    let logs = project
        .files("")
        .into_iter()
        .filter(|path| path.ends_with(".log"));
    assert_eq!(
        logs.collect::<Vec<_>>(),
        [1, 2, 3].map(|start| format!("bench.jsonl.start-{start}.log"))
    );
    let rows = timed.stdout.lines().filter(|line| line.contains("forward"));
    assert_eq!(rows.count(), 1, "{}", timed.stdout);
    let result = "result: passed: 1 timed, 0 wrong, 0 not timed, in 3 starts";
    assert!(timed.stdout.contains(result), "{}", timed.stdout);
    let compare = [
        "report",
        "bench.jsonl",
        "--base",
        "bench.jsonl",
        "--by",
        "speed",
    ];
    let compare = [compare.as_slice(), &["--format", "json"]].concat();
    let json: Value =
        serde_json::from_str(&project.run(&compare).expect_code(0).stdout).expect("it is JSON");
    assert_eq!(json["rows"][0]["later"]["starts"], 3);
}

#[test]
fn nothing_timed_and_several_devices_are_errors() {
    let project = Project::with_bert();
    let nothing = suite::bench(&project, "", &["--device", "cpu"]).expect_code(1);
    assert!(
        nothing.stdout.contains("problem: nothing was timed"),
        "{}",
        nothing.stdout
    );
    let damaged = suite::bench(&project, "::cpu::finite_f32|text|{}", &[]).expect_code(1);
    assert!(
        damaged
            .stdout
            .contains("problem: line 1: missing field `version`"),
        "{}",
        damaged.stdout
    );
    let several = ["--device", "rocm:0", "--device", "rocm:1"];
    let several = suite::bench(&project, "", &several).expect_code(2);
    assert!(
        several.stderr.contains("uses one device of each kind"),
        "{}",
        several.stderr
    );
    assert!(!several.stderr.contains("building"), "{}", several.stderr);
}

#[test]
fn two_reports_are_compared_by_speed() {
    let project = Project::with_bert();
    let line = |status: &str| {
        let rule = bench_rule("finite_f32", "f32", status);
        rule.rsplit_once("|text|")
            .expect("it is a rule")
            .1
            .to_owned()
    };
    project.write("old.jsonl", line("timed"));
    let slower = line("timed").replace("[1.0,3.0,2.0,2.0,2.0]", "[5.0,5.1,5.2,5.1,5.1]");
    project.write("new.jsonl", &slower);
    let report = ["report", "new.jsonl", "--by", "speed"];
    let with = |more: &[&str]| project.run(&[report.as_slice(), more].concat());
    let compared = with(&["--base", "old.jsonl"]).expect_code(0);
    insta::assert_snapshot!(compared.stdout);
    let failed = with(&["--base", "old.jsonl", "--fail-slower", "1.1"]).expect_code(1);
    assert!(
        failed.stdout.contains("1 slower by more than 1.1"),
        "{}",
        failed.stdout
    );
    let markdown = with(&["--base", "old.jsonl", "--format", "markdown"]).expect_code(0);
    assert!(
        markdown
            .stdout
            .contains("| bert f32 forward 2 x 128 | cpu: Fake host |"),
        "{}",
        markdown.stdout
    );
    let json = with(&["--base", "old.jsonl", "--format", "json"]).expect_code(0);
    let json: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(json["rows"][0]["change"], "slower");
    project.write("new.jsonl", slower.replace("00ff", "ff00"));
    let refused = with(&["--base", "old.jsonl"]).expect_code(1);
    assert!(
        refused
            .stdout
            .contains("refused: bert f32 forward 2 x 128: `config` is 00ff and ff00"),
        "{}",
        refused.stdout
    );
    let page = with(&["--base", "old.jsonl", "--format", "html"]).expect_code(1);
    assert!(
        page.stdout.contains("Compared with the base")
            && page.stdout.contains("`config` is 00ff and ff00"),
        "{}",
        page.stdout
    );
    let junit = with(&["--base", "old.jsonl", "--format", "junit"]).expect_code(2);
    assert!(
        junit.stderr.contains("has no format `junit`"),
        "{}",
        junit.stderr
    );
    let tests = with(&["--base", "old.jsonl", "--tests", "tests.txt"]).expect_code(2);
    assert!(
        tests.stderr.contains("takes no `--tests`"),
        "{}",
        tests.stderr
    );
    let checks = project.run(&["report", "new.jsonl", "--fail-slower", "1.1"]);
    let checks = checks.expect_code(2).stderr;
    assert!(checks.contains("takes no `--fail-slower`"), "{checks}");
    let without = with(&[]).expect_code(2);
    assert!(
        without.stderr.contains("`--by speed` needs `--base`"),
        "{}",
        without.stderr
    );
}

#[test]
fn throughput_is_plotted_without_a_base() {
    let project = Project::with_bert();
    let rule = bench_rule("finite_f32", "f32", "timed");
    let line = rule.rsplit_once("|text|").expect("it is a rule").1;
    let larger = line.replace("\"batch\":2", "\"batch\":8");
    assert_ne!(line, larger, "the line has a batch");
    project.write("times.jsonl", format!("{line}\n{larger}\n"));
    let command = ["report", "times.jsonl", "--by", "speed", "--format", "html"];
    let page = project.run(&command).expect_code(0);
    assert!(
        page.stdout.contains("bert: forward over batch, 128 tokens")
            && page.stdout.matches("class=\"bar line-0\"").count() == 2,
        "{}",
        page.stdout
    );
    // A report in which something is wrong is red, and the wrong work has no point.
    project.write(
        "times.jsonl",
        format!("{line}\n{}\n", larger.replace("timed", "wrong")),
    );
    let wrong = project.run(&command).expect_code(1);
    assert!(
        wrong
            .stdout
            .contains("Wrong, and therefore without a point")
            && !wrong.stdout.contains("class=\"bar"),
        "{}",
        wrong.stdout
    );
}

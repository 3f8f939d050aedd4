//! Several devices of one kind: a process and a column for each.

use super::{json, problems, rows, run};
use crate::project::Project;
use std::collections::BTreeSet;

/// Two devices of the same name, the second of which computes wrong numbers.
const SECOND_IS_BROKEN: &str = "\
::rocm::|pass|\"device_name\":\"AMD Instinct MI300X\"
 rocm:1|fail|\"device_name\":\"AMD Instinct MI300X\",\"reason\":\"wrong numbers\"";

const BOTH: [&str; 6] = [
    "--device", "cpu", "--device", "rocm:0", "--device", "rocm:1",
];

/// The rows of bert, without the counts.
fn devices_of(rows: &[String]) -> Vec<String> {
    let device = |row: &String| row.split(' ').nth(2).expect("has a device").to_owned();
    rows.iter().map(device).collect()
}

#[test]
fn the_broken_one_of_two_equal_devices_fails_and_the_other_passes() {
    let project = Project::with_bert();
    let outcome = run(&project, SECOND_IS_BROKEN, &BOTH).expect_code(1);
    assert_eq!(devices_of(&rows(&outcome)), ["cpu", "rocm:0", "rocm:1"]);
    assert!(
        outcome
            .stdout
            .contains("ran on rocm:1, AMD Instinct MI300X"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("ran on rocm:0"),
        "{}",
        outcome.stdout
    );
    let report = project.read("target/testgen/report.jsonl");
    let on_cpu: Vec<&str> = report
        .lines()
        .filter(|line| line.contains("\"device\":\"cpu\""))
        .collect();
    let once: BTreeSet<&str> = on_cpu.iter().copied().collect();
    assert_eq!(on_cpu.len(), once.len(), "the CPU is in one process only");
    let selected = |log: &str, device: &str| {
        let log = project.read(format!("target/testgen/report.jsonl.{log}.log"));
        assert!(log.contains(&format!("device: Ok(\"{device}\")")), "{log}");
    };
    selected("rocm-0", "rocm:0");
    selected("rocm-1", "rocm:1");
    let page = project.run(&[
        "report",
        "target/testgen/report.jsonl",
        "--format",
        "markdown",
    ]);
    for column in ["rocm:0: AMD Instinct MI300X", "rocm:1: AMD Instinct MI300X"] {
        assert!(page.stdout.contains(column), "{}", page.stdout);
    }
    let report = "target/testgen/report.jsonl";
    let compare = |devices: &str| {
        project.run(&[
            "report",
            report,
            "--base",
            report,
            "--by",
            "changes",
            "--devices",
            devices,
        ])
    };
    compare("rocm:0,rocm:0").expect_code(0);
    let differ = compare("rocm:0,rocm:1").expect_code(1);
    assert!(
        differ.stdout.contains("rocm:1: AMD Instinct MI300X"),
        "{}",
        differ.stdout
    );
    compare("rocm:0,rocm:x").expect_code(2);
}

#[test]
fn a_crash_of_one_process_loses_no_entry_of_the_other() {
    let project = Project::with_bert();
    let rules = "::rocm::|pass|\"device_name\":\"AMD Instinct MI300X\"\nfinite_bf16 rocm:0|cut|";
    let arguments: Vec<&str> = BOTH
        .into_iter()
        .skip(2)
        .chain(["--format", "json"])
        .collect();
    let outcome = run(&project, rules, &arguments).expect_code(1);
    assert!(
        problems(&outcome).contains(&"exit".to_owned()),
        "{}",
        outcome.stdout
    );
    let value = json(&outcome);
    let passed = |index: u32| {
        let rows = value["rows"].as_array().expect("is a list").iter();
        rows.filter(|row| row["device_index"] == index)
            .map(|row| row["passed"].as_u64().expect("a count"))
            .sum::<u64>()
    };
    let is_whole = |line: &&str| {
        line.starts_with("{\"version\":1,\"archi") && line.contains("\"device_index\":1")
    };
    let all = project
        .read("target/testgen/report.jsonl")
        .lines()
        .filter(is_whole)
        .count();
    assert_eq!(passed(1), all as u64);
    assert!(all > 20, "{all}");
}

//! `testgen operators`: the operators, and their results in reports.

use crate::project::{OPERATORS, Project};

/// A line of a report: the operators of the spec `sums` on a device.
fn line(check: &str, precision: &str, status: &str, outputs: &[(&str, f64)]) -> String {
    let output = |(name, headroom): &(&str, f64)| {
        format!(
            r#"{{"name":"{name}","rel_l2":0.1,"max_rel":0.1,"rel_l2_threshold":0.2,"max_rel_threshold":0.2,"headroom":{headroom}}}"#
        )
    };
    let outputs: Vec<String> = outputs.iter().map(output).collect();
    format!(
        r#"{{"version":1,"model":"sums","architecture":"operators","device":"cuda","check":"{check}","precision":"{precision}","status":"{status}","reason":"r","device_name":"NVIDIA X","outputs":[{}],"milliseconds":1}}"#,
        outputs.join(",")
    )
}

#[test]
fn operators_are_listed_with_their_specs() {
    let project = Project::empty();
    project.write("model_specs/operators/sums.yaml", OPERATORS);
    let text = project.run(&["operators"]).expect_code(0).stdout;
    assert!(text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>() == ["matmul", "sums", "rows,", "inner,", "columns"]));
    assert!(text.lines().any(|line| line.starts_with("softmax ")));
}

#[test]
fn each_operator_has_its_own_result() {
    let project = Project::empty();
    project.write("model_specs/operators/sums.yaml", OPERATORS);
    let lines = [
        line("forward", "f32", "fail", &[("add", 1e6), ("matmul", 0.5)]),
        line("shapes", "f32", "pass", &[("add", 2.0), ("matmul", 3.0)]),
        line("forward", "f16", "pass", &[("add", 1.5)]),
    ];
    project.write("reports/one.jsonl", lines.join("\n"));
    let text = project.run(&["operators", "reports", "--markdown"]).expect_code(0).stdout;
    assert!(text.contains("| operator | specs | cuda: NVIDIA X |"), "{text}");
    assert!(text.contains("| `add` | sums | f32 pass 2.0 in 2 checks; f16 pass 1.5 in 1 checks |"), "{text}");
    assert!(text.contains("| `matmul` | sums | f32 fail 0.5 in 2 checks |"), "{text}");
    assert!(text.contains("| `softmax` | none | not run |"), "{text}");
}

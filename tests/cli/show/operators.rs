//! `testgen show operators`: the operators, and their results in reports.

use crate::project::{OPERATORS, Project};
use std::{fs, path::Path};
use testgen::{results::stress_table::stress_issues, spec::load_all};
use testgen_types::Operator;

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
    let text = project.run(&["show", "operators"]).expect_code(0).stdout;
    assert!(
        text.lines()
            .any(|line| line.split_whitespace().collect::<Vec<_>>()
                == ["matmul", "sums", "rows,", "inner,", "columns"])
    );
    assert!(text.lines().any(|line| line.starts_with("softmax ")));
}

const BEGIN: &str = "<!-- stress: begin, written by UPDATE_DOCS=1 cargo test -p testgen --test cli stress_table -->\n";
const END: &str = "<!-- stress: end -->\n";

#[test]
fn the_stress_table_of_the_page_is_that_of_the_specs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let specs = load_all(&root.join("model_specs")).expect("the specs are valid");
    let page = root.join("docs/operators.md");
    let text = fs::read_to_string(&page).expect("the page exists");
    let (before, rest) = text.split_once(BEGIN).expect("the page has the table");
    let (_, after) = rest.split_once(END).expect("the table ends");
    let current = format!("{before}{BEGIN}{}{END}{after}", stress_issues(&specs));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&page, current).expect("the page can be written");
    }
    assert!(
        text == current,
        "`UPDATE_DOCS=1 cargo test -p testgen --test cli stress_table` writes the table"
    );
}

#[test]
fn stress_prints_the_shapes_of_each_issue() {
    let project = Project::empty();
    let stress = "stress:\n  matmul: { \"vllm#51511\": [[1, 8192, 64], [4, 8191, 33]] }\n";
    project.write(
        "model_specs/operators/sums.yaml",
        format!("{OPERATORS}{stress}"),
    );
    let text = project
        .run(&["show", "operators", "--stress"])
        .expect_code(0)
        .stdout;
    assert!(text.starts_with("| issue | fault | shapes |\n"), "{text}");
    assert!(
        text.contains("| vllm#51511 | wave32: products of few rows are wrong for K from 4097 to 8192 | `matmul` 1 x 8192 x 64, 4 x 8191 x 33 |\n"),
        "{text}"
    );
}

#[test]
fn every_reported_size_is_among_the_stress_shapes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let specs = load_all(&root.join("model_specs")).expect("the specs are valid");
    let shapes = || {
        specs
            .iter()
            .filter_map(|spec| spec.spec.subject.operators())
            .flat_map(|it| &it.stress)
            .flat_map(|one| {
                one.shapes
                    .iter()
                    .map(move |shape| (one.issue.as_str(), one.operator, shape.as_slice()))
            })
    };
    let has = |issue: &str, is: &dyn Fn(Operator, &[u64]) -> bool| {
        assert!(
            shapes().any(|(of, operator, sizes)| of == issue && is(operator, sizes)),
            "{issue}"
        );
    };
    has("ollama#17895", &|_, sizes| sizes.contains(&4097));
    has("ROCm#6416", &|_, sizes| {
        sizes.iter().any(|size| *size > 14_300)
    });
    has("ROCm#6116", &|operator, sizes| {
        operator == Operator::Matmul && sizes[0] > 500_000
    });
    has("rocm-libraries#5706", &|operator, sizes| {
        operator == Operator::Matmul && sizes[2] == 9_500_000
    });
    // In 16 bits more than 2 GiB are more than 2^30 elements.
    has("hipBLASLt#2299", &|operator, sizes| {
        operator == Operator::Matmul && sizes[0] * sizes[2] > 1 << 30
    });
    has("vllm-omni#7484", &|operator, sizes| {
        operator == Operator::ScaledDotProductAttention && sizes[4] == 384
    });
    for inner in [4097, 8192] {
        has("vllm#51511", &|operator, sizes| {
            operator == Operator::Matmul && sizes[0] < 8 && sizes[1] == inner
        });
    }
    for inner in [4095, 4096, 4097, 8191, 8192, 8193] {
        has("sizes", &|operator, sizes| {
            operator == Operator::Matmul && sizes[1] == inner
        });
    }
    has("sizes", &|_, sizes| sizes[0] * sizes[1] > 1 << 31);
    has("sizes", &|operator, sizes| {
        operator == Operator::ScaledDotProductAttention && sizes[4] == 256 && sizes[3] == 16_384
    });
}

#[test]
fn each_operator_has_its_own_result() {
    let project = Project::empty();
    project.write("model_specs/operators/sums.yaml", OPERATORS);
    let lines = [
        line("forward", "f32", "fail", &[("add", 1e6), ("matmul", 0.5)]),
        line("shapes", "f32", "pass", &[("add", 2.0), ("matmul", 3.0)]),
        line("forward", "f16", "pass", &[("add", 1.5)]),
        line("forward", "f16", "pass", &[("add", 4.0)]).replace("NVIDIA X", "NVIDIA Y"),
    ];
    project.write("reports/one.jsonl", lines.join("\n"));
    let text = project
        .run(&["report", "reports", "--by", "operators"])
        .expect_code(1)
        .stdout;
    assert!(text.contains("| operators | cuda: NVIDIA X |"), "{text}");
    assert!(
        text.contains("| `add` | pass 3: f32 2.0, f16 1.5 |"),
        "{text}"
    );
    assert!(text.contains("| `matmul` | fail 2: f32 0.5 |"), "{text}");
    assert!(
        text.ends_with("\ncuda: NVIDIA Y: `add` pass 1: f16 4.0.\n"),
        "a device with one operator has no column: {text}"
    );
    let softmax = text.lines().find(|line| line.contains("`softmax`"));
    let softmax = softmax.expect("every operator has a row");
    assert!(
        softmax.contains("`gelu`"),
        "operators without results share a row: {softmax}"
    );
    assert!(softmax.ends_with("` |  |"), "{softmax}");
}

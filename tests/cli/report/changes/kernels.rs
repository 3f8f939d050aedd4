//! Checks that ran other kernels, or measured another matrix unit.

use super::golden;
use crate::{
    project::Project,
    seeded::{line, on},
};

#[test]
fn checks_that_ran_other_kernels_are_counted() {
    let project = Project::empty();
    let with = |kernels: &str| {
        let fields = format!("\"kernels\":\"{kernels}\",{}", golden(1e-4));
        line("bert", "cuda", "output_golden", "f32", "pass", &fields)
    };
    project.write("a.jsonl", with("0123456789abcdef"));
    project.write("b.jsonl", with("fedcba9876543210"));
    for format in ["human", "markdown"] {
        let run = |second: &str| {
            project
                .run(&[
                    "report", second, "--base", "a.jsonl", "--by", "changes", "--format", format,
                ])
                .expect_code(0)
                .stdout
        };
        assert!(
            run("b.jsonl").contains("1 check ran other GPU kernels in the second report"),
            "{}",
            run("b.jsonl")
        );
        assert!(!run("a.jsonl").contains("kernels"), "{}", run("a.jsonl"));
    }
}

#[test]
fn checks_that_measured_another_matrix_unit_are_counted() {
    let project = Project::empty();
    let with = |terms: &str| {
        let unit = "\"rounding\":\"toward_zero\",\"accumulator_separate\":false,\"subnormal_inputs\":true,\
                    \"subnormal_outputs\":true,\"like\":[]";
        let fields = format!("\"matrix_unit\":{{\"terms\":{terms},\"extra_bits\":null,{unit}}},");
        line(
            "bert",
            "cuda",
            "half_probe",
            "f16",
            "pass",
            &format!("{fields}{}", on("NVIDIA H200")),
        )
    };
    project.write("a.jsonl", with("16"));
    project.write("b.jsonl", with("8"));
    for format in ["human", "markdown"] {
        let run = |second: &str| {
            project
                .run(&[
                    "report", second, "--base", "a.jsonl", "--by", "changes", "--format", format,
                ])
                .expect_code(0)
                .stdout
        };
        assert!(
            run("b.jsonl").contains("1 check measured another matrix unit in the second report"),
            "{}",
            run("b.jsonl")
        );
        assert!(
            !run("a.jsonl").contains("matrix unit"),
            "{}",
            run("a.jsonl")
        );
    }
}

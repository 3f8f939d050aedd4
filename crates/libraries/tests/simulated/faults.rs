//! Products of the simulated libraries, with and without faults.

use crate::installation::run;
use serde_json::Value;
use std::collections::BTreeSet;

/// The report of a library under faults.
pub(crate) fn report(library: &str, faults: &str) -> Value {
    let output = run(&format!("algorithms {library}"), faults);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with('{'));
    let line = line.unwrap_or_else(|| {
        panic!(
            "no report: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    serde_json::from_str(line).expect("is JSON")
}

pub(crate) fn rows(report: &Value) -> Vec<&Value> {
    report["rows"]
        .as_array()
        .expect("has rows")
        .iter()
        .collect()
}

pub(crate) fn count(row: &Value, name: &str) -> u64 {
    row[name].as_u64().expect("is a number")
}

/// A fault, and the rows that must fail.
struct Expected {
    fault: &'static str,
    /// The types of all rows that fail.
    arithmetics: &'static [&'static str],
    /// The variants of all rows that fail; every one if empty.
    variants: &'static [&'static str],
    /// A part of every product that fails.
    product: &'static str,
    /// A part of one of the messages.
    message: &'static str,
}

const ALL: &[&str] = &["bf16", "f16", "f32", "tf32"];
/// The plan has no subnormal factors of TF32, which lose bits in any case.
const SUBNORMAL: &[&str] = &["bf16", "f16", "f32"];
const HALF: &[&str] = &["bf16", "f16"];

const EXPECTED: &[Expected] = &[
    Expected {
        fault: "alpha",
        arithmetics: ALL,
        variants: &[],
        product: "alpha -0.5",
        message: "elements are wrong",
    },
    Expected {
        fault: "empty",
        arithmetics: ALL,
        variants: &["K 0"],
        product: "x0 alpha",
        message: "are NaN or were not written",
    },
    Expected {
        fault: "clear",
        arithmetics: ALL,
        variants: &["K 0"],
        product: "x0 alpha",
        message: "elements are wrong",
    },
    Expected {
        fault: "beta",
        arithmetics: ALL,
        variants: &[],
        product: "",
        message: "elements are wrong",
    },
    Expected {
        fault: "flush",
        arithmetics: SUBNORMAL,
        variants: &[],
        product: "",
        message: "elements are wrong",
    },
    Expected {
        fault: "transpose",
        arithmetics: ALL,
        variants: &[],
        product: "TT",
        message: "elements are wrong",
    },
    Expected {
        fault: "limit",
        arithmetics: ALL,
        variants: &[],
        product: "",
        message: "are NaN or were not written",
    },
    Expected {
        fault: "batch",
        arithmetics: ALL,
        variants: &[],
        product: "batch",
        message: "elements are wrong",
    },
    Expected {
        fault: "beyond",
        arithmetics: ALL,
        variants: &[],
        product: "",
        message: "memory 0 bytes after the result was overwritten",
    },
    Expected {
        fault: "silent",
        arithmetics: ALL,
        variants: &[],
        product: "",
        message: "are NaN or were not written",
    },
    Expected {
        fault: "refuse",
        arithmetics: ALL,
        variants: &[],
        product: "",
        message: "returned 6, ",
    },
    Expected {
        fault: "round",
        arithmetics: HALF,
        variants: &[],
        product: "",
        message: "elements are wrong",
    },
];

const FLOAT8: &[&str] = &["e4m3fnuz*e4m3fnuz->f16", "e4m3fnuz*e5m2fnuz->f32"];

/// Faults of what only rocBLAS promises.
const EXPECTED_OF_ROCBLAS: &[Expected] = &[Expected {
    fault: "zero",
    arithmetics: ALL,
    variants: &["alpha 0"],
    product: "alpha 0 beta",
    message: "are NaN or were not written",
}];

/// Faults of what only hipBLASLt has.
const EXPECTED_OF_HIPBLASLT: &[Expected] = &[
    Expected {
        fault: "bias",
        arithmetics: ALL,
        variants: &["bias", "bias gelu", "bias relu"],
        product: "bias",
        message: "elements are wrong",
    },
    Expected {
        fault: "order",
        arithmetics: ALL,
        variants: &["bias gelu", "bias relu"],
        product: "bias",
        message: "elements are wrong",
    },
    Expected {
        fault: "scale",
        arithmetics: FLOAT8,
        variants: &[],
        product: "scales 0.25 1.6875",
        message: "elements are wrong",
    },
    Expected {
        fault: "fnuz",
        arithmetics: FLOAT8,
        variants: &[],
        product: "fnuz",
        message: "elements are wrong",
    },
    Expected {
        fault: "saturate",
        arithmetics: &["i8*i8->i32"],
        variants: &[],
        product: "i8",
        message: "elements are wrong",
    },
];

/// Rows whose types are not among `types` are not looked at.
fn detects(library: &str, types: &[&str], expected: &[Expected]) {
    for Expected {
        fault,
        arithmetics,
        variants,
        product,
        message,
    } in expected
    {
        let report = report(library, &format!("blas={fault}"));
        let failed: Vec<&Value> = rows(&report)
            .into_iter()
            .filter(|row| count(row, "failed") > 0)
            .filter(|row| types.contains(&row["arithmetic"].as_str().expect("is text")))
            .collect();
        let detected: BTreeSet<&str> = failed
            .iter()
            .filter_map(|row| row["arithmetic"].as_str())
            .collect();
        assert_eq!(
            detected,
            arithmetics.iter().copied().collect(),
            "{library}: blas={fault}"
        );
        let text = Value::from_iter(failed.iter().copied().cloned()).to_string();
        assert!(text.contains(message), "{library}: blas={fault}: {text}");
        for row in failed {
            let own = row["variant"].as_str().expect("is text");
            assert!(
                variants.is_empty() || variants.contains(&own),
                "{library}: blas={fault}: {row}"
            );
            let failures = row["failures"].as_array().expect("are described");
            let described = |failure: &Value| {
                failure["computation"]
                    .as_str()
                    .is_some_and(|text| text.contains(product))
            };
            assert!(
                failures.iter().all(described),
                "{library}: blas={fault}: {row}"
            );
        }
    }
}

/// Every algorithm of every type and variant passes; each of `algorithms` has as many rows.
fn passes(library: &str, algorithms: &[(&str, usize)]) {
    let report = report(library, "");
    let rows = rows(&report);
    for row in &rows {
        assert_eq!(count(row, "failed"), 0, "{library}: {row}");
    }
    let all: usize = algorithms.iter().map(|(_, variants)| variants).sum();
    assert_eq!(rows.len(), all, "{library}");
    for (algorithm, variants) in algorithms {
        let own = rows.iter().filter(|row| row["algorithm"] == *algorithm);
        assert_eq!(own.count(), *variants, "{library} {algorithm}");
    }
    assert!(
        report["version"]
            .as_str()
            .is_some_and(|version| version != "unknown"),
        "{report}"
    );
    assert!(
        count(&report, "peak_bytes") > 1 << 16 && report["aborted"].is_null(),
        "{report}"
    );
}

#[test]
fn rocblas_passes_with_every_solution() {
    // f32, XF32, f16 and bf16, each with four transpositions, with alpha 0 and with sums without
    // terms; XF32 has no `gemv`, and `gemv` no such sums.
    let solutions = ["default", "2101", "2102", "4093"].map(|algorithm| (algorithm, 4 * 6));
    passes(
        "rocblas",
        &[solutions.as_slice(), &[("gemv", 3 * 5)]].concat(),
    );
}

#[test]
fn hipblaslt_passes_with_every_algorithm() {
    // The same with five epilogues, then two types of 8 bits with a floating point, and i8.
    let variants = 4 * 11 + 3 * 6;
    passes(
        "hipblaslt",
        &["51", "52", "877"].map(|algorithm| (algorithm, variants)),
    );
}

#[test]
fn every_fault_of_rocblas_is_detected() {
    detects("rocblas", ALL, EXPECTED);
    detects("rocblas", ALL, EXPECTED_OF_ROCBLAS);
}

#[test]
fn every_fault_of_hipblaslt_is_detected() {
    detects("hipblaslt", ALL, EXPECTED);
    let all = [ALL, FLOAT8, &["i8*i8->i32"]].concat();
    detects("hipblaslt", &all, EXPECTED_OF_HIPBLASLT);
}

#[test]
fn a_fault_of_one_solution_is_in_its_rows_only() {
    for (library, solution) in [("rocblas", "4093"), ("hipblaslt", "877")] {
        let report = report(library, "blas=solution");
        for row in rows(&report) {
            let expected = if row["algorithm"] == solution {
                count(row, "results")
            } else {
                0
            };
            assert_eq!(count(row, "failed"), expected, "{library}: {row}");
        }
    }
}

#[test]
fn a_result_of_nan_is_not_a_failure_where_no_documentation_excludes_it() {
    for row in rows(&report("hipblaslt", "blas=zero")) {
        assert_eq!(count(row, "failed"), 0, "{row}");
    }
}

#[test]
fn a_fault_of_gemv_is_in_its_rows_only() {
    let report = report("rocblas", "blas=gemv");
    for row in rows(&report) {
        let is_wrong = count(row, "failed") > 0;
        // The matrix is not read with an alpha of 0.
        let reads_matrix = row["algorithm"] == "gemv" && row["variant"] != "alpha 0";
        assert_eq!(is_wrong, reads_matrix, "{row}");
    }
}

#[test]
fn a_fault_of_the_device_ends_the_run() {
    let report = report("rocblas", "copy=40");
    assert!(
        report["aborted"]
            .as_str()
            .is_some_and(|error| error.contains("hipMemcpyDtoHAsync returned 999")),
        "{report}"
    );
}

//! Answers that agree, that differ within their threshold, and that differ.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod detections;
mod segments;
mod tokens;

use super::*;
use crate::{check::tests::OnHost, golden::Noise, harness::ToleranceOverride};
use serde_json::{Value, json};
use testgen_nn::array::Array;
use testgen_types::{Architecture, Precision};

/// Both thresholds of every number, exact in f32.
const ALLOWED: f32 = 1.0 / 1024.0;

const fn threshold(output: &'static str) -> ToleranceOverride {
    let (rel_l2, max_rel) = (ALLOWED as f64, ALLOWED as f64);
    ToleranceOverride {
        output,
        precision: Precision::F32,
        rel_l2,
        max_rel,
        reason: "numbers without rounding",
    }
}

static THRESHOLDS: [ToleranceOverride; 3] = [
    threshold("scores"),
    threshold("corners"),
    threshold("tokens"),
];

/// The result of a comparison, and the names of the compared numbers.
fn compared(expected: Value, got: &Response) -> (CheckResult, Vec<String>) {
    let expected = serde_json::from_value(expected).unwrap();
    let noise = Noise::default();
    OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
        let mut comparison = AnswerComparison::new(
            run,
            Tolerance::new(&noise, &THRESHOLDS, Precision::F32, false),
        );
        let summary = compare(&mut comparison, &expected, got);
        let result = summary.and_then(|summary| comparison.conclude().map(|()| summary));
        (
            result,
            run.evidence
                .outputs
                .iter()
                .map(|output| output.name.clone())
                .collect(),
        )
    })
}

fn passes(result: CheckResult, summary: &str) {
    assert_eq!(result, Ok(Some(summary.to_owned())));
}

fn fails(result: CheckResult, part: &str) {
    match result {
        Err(Abort::Fail(reason)) => assert!(reason.contains(part), "no `{part}` in: {reason}"),
        other => panic!("expected a failure with `{part}`, got {other:?}"),
    }
}

fn is_skipped(result: CheckResult) {
    assert!(matches!(result, Err(Abort::Skip(_))), "{result:?}");
}

/// The elements alone do not make two arrays equal.
#[test]
fn an_array_of_another_shape_is_a_failure() {
    let recorded =
        json!({ "vectors": [{ "latents": { "shape": [2, 2], "values": [1.0, 2.0, 3.0, 4.0] } }] });
    let answer =
        |shape: &[usize]| Response::Latents(vec![Array::floats(shape, vec![1.0, 2.0, 3.0, 4.0])]);
    passes(
        compared(recorded.clone(), &answer(&[2, 2])).0,
        "1 rows of vectors",
    );
    fails(
        compared(recorded, &answer(&[4])).0,
        "row 0: `latents` has the shape [4], expected [2, 2]",
    );
}

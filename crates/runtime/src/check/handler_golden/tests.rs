//! Answers that agree, that differ within their threshold, and that differ.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod detections;
mod segments;
mod tokens;

use super::*;
use crate::{
    check::tests::OnHost,
    golden::Noise,
    harness::ToleranceOverride,
    task::{FilledMask, SpokenText},
};
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

/// The result of a comparison in f32, and the names of the compared numbers.
fn compared(expected: Value, got: &Response) -> (CheckResult, Vec<String>) {
    compared_in(Precision::F32, expected, got)
}

fn compared_in(
    precision: Precision,
    expected: Value,
    got: &Response,
) -> (CheckResult, Vec<String>) {
    let expected = serde_json::from_value(expected).unwrap();
    let noise = Noise::default();
    OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
        let mut comparison =
            AnswerComparison::new(run, Tolerance::new(&noise, &THRESHOLDS, precision, false));
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

#[test]
fn every_mask_token_has_as_many_candidates_as_the_pipeline_returns() {
    let scores = [0.3, 0.2, 0.15, 0.1, 0.08, 0.05];
    let filled = |recorded: usize, got: usize| {
        let known: Vec<Value> = (0..recorded)
            .map(|id| json!({ "id": id, "text": "a", "score": scores[id] }))
            .collect();
        let got = (0..got).map(|id| FilledMask {
            id: id as i64,
            text: "a".to_owned(),
            score: scores[id],
        });
        let got = Response::FilledMasks(vec![vec![got.collect()]]);
        compared(json!({ "filled": [[known]] }), &got).0
    };
    passes(filled(6, 5), "1 texts");
    passes(filled(3, 3), "1 texts");
    fails(filled(6, 1), "1 candidates in text 0 instead of 5");
    fails(filled(6, 6), "6 candidates in text 0 instead of 5");
}

#[test]
fn in_16_bits_another_length_that_the_model_computes_is_not_decided() {
    let row = |name: &str| json!({ "vectors": [{ name: { "shape": [2], "values": [1.0, 2.0] } }] });
    let speech = Response::Speech(vec![SpokenText {
        waveform: Array::floats([3], vec![1.0, 2.0, 3.0]),
        sampling_rate: 1,
    }]);
    let mut recorded = row("waveform");
    recorded["vectors"][0]["sampling_rate"] = json!({ "shape": [1], "values": [1.0] });
    let in_precision = |precision| compared_in(precision, recorded.clone(), &speech).0;
    let reason = "row 0: `waveform` has the shape [3], expected [2]";
    fails(in_precision(Precision::F32), reason);
    is_skipped(in_precision(Precision::Bf16));

    // The length of a latent is its input's.
    let latents = Response::Latents(vec![Array::floats([3], vec![1.0; 3])]);
    let in_16_bits = compared_in(Precision::Bf16, row("latents"), &latents);
    fails(in_16_bits.0, "row 0: `latents` has the shape [3]");
}

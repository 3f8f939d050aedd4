//! Labels of pixels.

use super::*;
use crate::task::Segment;

/// An image of one row and two pixels: the first is a `sky` by one, the second a `tree` by a margin.
fn recorded(margin: f32) -> Value {
    let image = json!({
        "size": [1, 2], "labels": ["sky", "tree"], "map": [0, 1], "margins": [1.0, margin], "largest": 1.0
    });
    json!({ "segments": [image] })
}

fn segment(label: &str, mask: [i64; 2]) -> Segment {
    Segment {
        label: label.to_owned(),
        mask: Array::integers([1, 2], mask.to_vec()),
    }
}

fn segments(expected: Value, got: &[Segment]) -> CheckResult {
    compared(expected, &Response::Segments(vec![got.to_vec()])).0
}

#[test]
fn a_label_may_differ_only_where_two_scores_are_as_close_as_both_errors() {
    let right = [segment("sky", [1, 0]), segment("tree", [0, 1])];
    passes(segments(recorded(1.0), &right), "2 pixels");
    let other = [segment("sky", [1, 1])];
    passes(segments(recorded(2.0 * ALLOWED), &other), "1 pixels");
    let wrong = "1 of 2 pixels have another label, such as `sky` instead of `tree` at [0, 1]";
    fails(segments(recorded(3.0 * ALLOWED), &other), wrong);
}

#[test]
fn another_label_is_a_difference_that_no_number_shows() {
    let expected = serde_json::from_value(recorded(1.0)).unwrap();
    let noise = Noise::default();
    let differs = |label| {
        let answer = Response::Segments(vec![vec![segment("sky", [1, 0]), segment(label, [0, 1])]]);
        OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
            let tolerance = Tolerance::new(&noise, &THRESHOLDS, Precision::F32, false);
            let mut comparison = AnswerComparison::new(run, tolerance);
            compare(&mut comparison, &expected, &answer).unwrap();
            run.evidence.differs_from_golden
        })
    };
    assert_eq!(["tree", "house"].map(differs), [false, true]);
}

#[test]
fn the_masks_divide_the_image() {
    let twice = [segment("sky", [1, 1]), segment("tree", [0, 1])];
    fails(
        segments(recorded(1.0), &twice),
        "has the labels `sky` and `tree`",
    );
    fails(
        segments(recorded(1.0), &[segment("sky", [1, 0])]),
        "is in none",
    );
    let mut larger = segment("sky", [1, 1]);
    larger.mask = Array::integers([2, 1], vec![1, 1]);
    fails(segments(recorded(1.0), &[larger]), "has the shape [2, 1]");
    let answer = Response::Segments(Vec::new());
    fails(compared(recorded(1.0), &answer).0, "0 images instead of 1");
}

#[test]
fn a_pixel_without_a_recorded_margin_is_a_failure() {
    let mut expected = recorded(1.0);
    expected["segments"][0]["margins"] = json!([1.0]);
    let wrong = [segment("sky", [1, 1])];
    fails(
        segments(expected, &wrong),
        "2 labels and 1 margins are recorded for 2 pixels",
    );
}

#[test]
fn an_image_whose_labels_are_all_uncertain_proves_nothing() {
    let expected = json!({ "segments": [{
        "size": [1, 2], "labels": ["sky"], "map": [0, 0], "margins": [0.0, 0.0], "largest": 1.0
    }] });
    is_skipped(segments(expected, &[segment("sky", [1, 1])]));
}

//! Objects in images.

use super::*;
use crate::task::{Detection, LabelScore};

const BOX: [f32; 4] = [1.0, 1.0, 64.0, 64.0];

fn recorded(label: &str, score: f32, corners: [f32; 4]) -> Value {
    json!({ "label": label, "score": score, "corners": corners })
}

fn found(label: &str, score: f32, corners: [f32; 4]) -> Detection {
    Detection {
        label: LabelScore {
            label: label.to_owned(),
            score,
        },
        corners,
    }
}

/// The comparison of the objects of one image.
fn objects(expected: &[Value], got: &[Detection]) -> CheckResult {
    compared(
        json!({ "detections": [expected] }),
        &Response::Detections(vec![got.to_vec()]),
    )
    .0
}

/// With a largest score of 1, the error that is allowed for a score is [`ALLOWED`].
#[test]
fn only_an_object_that_is_clearly_above_the_limit_must_be_found() {
    let with_another = |score: f32| {
        objects(
            &[recorded("a", 1.0, BOX), recorded("b", score, BOX)],
            &[found("a", 1.0, BOX)],
        )
    };
    passes(with_another(0.5), "1 objects");
    passes(with_another(0.5 + ALLOWED), "1 objects");
    fails(
        with_another(0.5 + 2.0 * ALLOWED),
        "`b` at [1.0, 1.0, 64.0, 64.0] was not found",
    );
}

/// A recorded score near the limit is decided by the device's own score, which is the returned one.
#[test]
fn an_object_that_is_not_above_the_limit_must_not_be_returned() {
    let with_another = |known: f32, score: f32| {
        objects(
            &[recorded("a", 1.0, BOX), recorded("b", known, BOX)],
            &[found("a", 1.0, BOX), found("b", score, BOX)],
        )
    };
    passes(with_another(0.5, 0.5 + ALLOWED / 2.0), "2 objects");
    for (known, score) in [(0.4, 0.4), (0.5, 0.5)] {
        fails(
            with_another(known, score),
            &format!("`b` is returned with the score {score}, expected only scores above 0.5"),
        );
    }
}

#[test]
fn an_image_without_objects_proves_nothing() {
    is_skipped(objects(&[recorded("a", 0.5, BOX)], &[]));
    let answer = Response::Detections(vec![Vec::new()]);
    let (result, names) = compared(
        json!({ "detections": [[recorded("a", 1.0, BOX)]] }),
        &answer,
    );
    fails(result, "`a` at");
    assert!(
        names.is_empty(),
        "no corner was compared, but a report shows {names:?}"
    );
}

#[test]
fn every_image_has_an_answer() {
    let expected = json!({ "detections": [[recorded("a", 1.0, BOX)]] });
    let got = Response::Detections(vec![vec![found("a", 1.0, BOX)]; 2]);
    fails(compared(expected, &got).0, "2 images instead of 1");
}

#[test]
fn corners_and_labels_are_compared() {
    let known = [recorded("a", 1.0, BOX)];
    fails(
        objects(&known, &[found("a", 1.0, [1.0, 1.0, 64.0, 65.0])]),
        "`answer.corners`",
    );
    fails(
        objects(&known, &[found("c", 1.0, BOX)]),
        "no object `c` is recorded",
    );
}

/// Each case is an answer that agrees with what is recorded, if every object is compared with its
/// own counterpart.
#[test]
fn an_object_is_compared_with_the_nearest_one_of_its_label() {
    let (small, large, shifted) = (
        [1.0, 1.0, 2.0, 2.0],
        [10.0, 10.0, 20.0, 20.0],
        [2.0, 1.0, 64.0, 64.0],
    );
    let cases = [
        (
            "in another order",
            [(0.75, small), (1.0, large)],
            [(1.0, large), (0.75, small)],
        ),
        (
            "smaller corners are not nearer",
            [(1.0, small), (1.0, large)],
            [(1.0, large), (1.0, small)],
        ),
        (
            "equal corners: the score decides",
            [(0.75, BOX), (1.0, BOX)],
            [(1.0, BOX), (0.75, BOX)],
        ),
        // One pixel is 16 times the error that is allowed for a corner, the difference of the
        // scores half of theirs.
        (
            "corners decide",
            [(1.0 - ALLOWED / 2.0, BOX), (1.0, shifted)],
            [(1.0, BOX), (1.0, shifted)],
        ),
    ];
    for (what, known, got) in cases {
        let known = known.map(|(score, corners)| recorded("a", score, corners));
        let result = objects(
            &known,
            &got.map(|(score, corners)| found("a", score, corners)),
        );
        assert_eq!(result, Ok(Some("2 objects".to_owned())), "{what}");
    }
}

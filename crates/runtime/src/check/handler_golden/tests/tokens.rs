//! Tokens, and answers with their passages.

use super::*;
use crate::task::{FoundPassage, GeneratedText, RetrievedAnswer, Transcription};
use testgen_processing::{generation::FinishReason, retrieval::Passage};

/// A margin that is exactly the allowed error, and one above it.
const EXCUSED: f64 = ALLOWED as f64;
const CLEAR: f64 = 2.0 * EXCUSED;

fn row(text: &str, ids: &[i64], margins: &[f64]) -> Value {
    json!({ "text": text, "ids": ids, "margins": margins })
}

fn text(text: &str, ids: &[i64]) -> GeneratedText {
    GeneratedText {
        text: text.to_owned(),
        ids: ids.to_vec(),
        finish: FinishReason::Length,
    }
}

fn generated(expected: &[Value], got: &[GeneratedText]) -> CheckResult {
    compared(
        json!({ "generated": expected }),
        &Response::Generations(got.to_vec()),
    )
    .0
}

#[test]
fn a_row_is_compared_up_to_a_token_that_its_margin_excuses() {
    let expected = |margin| {
        [
            row("abc", &[1, 2, 3], &[CLEAR; 3]),
            row("de", &[4, 5], &[CLEAR, margin]),
        ]
    };
    let got = [text("abc", &[1, 2, 3]), text("dx", &[4, 9])];
    passes(
        generated(&expected(EXCUSED), &got),
        "4 of 5 tokens equal, the others within their margin",
    );
    fails(
        generated(&expected(CLEAR), &got),
        "row 1, token 1: expected Some(5), got Some(9)",
    );
}

#[test]
fn rows_without_an_equal_token_prove_nothing() {
    let other = [text("x", &[9])];
    is_skipped(generated(&[row("a", &[1], &[EXCUSED])], &other));
    fails(
        generated(&[row("a", &[1], &[CLEAR])], &other),
        "row 0, token 0",
    );
}

fn frames(expected: &[Value], got: &[(&str, &[i64])]) -> CheckResult {
    let got = got.iter().map(|(text, ids)| Transcription {
        text: (*text).to_owned(),
        ids: ids.to_vec(),
    });
    compared(
        json!({ "frames": expected }),
        &Response::Transcriptions(got.collect()),
    )
    .0
}

#[test]
fn every_frame_is_compared() {
    let expected = |margin| [row("abc", &[1, 2, 3], &[CLEAR, margin, CLEAR])];
    let all = "3 of 3 tokens equal, the others within their margin";
    passes(frames(&expected(EXCUSED), &[("abc", &[1, 2, 3])]), all);
    // The text follows from the tokens, so that of an excused token is another one.
    let two = "2 of 3 tokens equal, the others within their margin";
    passes(frames(&expected(EXCUSED), &[("axc", &[1, 9, 3])]), two);
    fails(
        frames(&expected(CLEAR), &[("axc", &[1, 9, 3])]),
        "recording 0, frame 1: expected token 2, got 9",
    );
    fails(
        frames(&expected(CLEAR), &[("abd", &[1, 2, 3])]),
        "recording 0: the text is \"abd\", expected \"abc\"",
    );
    fails(
        frames(&expected(CLEAR), &[("ab", &[1, 2])]),
        "2 frames in recording 0 instead of 3",
    );
}

#[test]
fn a_frame_without_a_margin_is_compared() {
    let expected = [row("abc", &[1, 2, 3], &[CLEAR])];
    fails(
        frames(&expected, &[("abx", &[1, 2, 9])]),
        "recording 0, frame 2: expected token 3, got 9",
    );
}

/// An answer of one equal token with two passages of these probabilities.
fn retrieved(expected: [f32; 2], got: [f32; 2]) -> CheckResult {
    let scores = [4.0_f32, 2.0];
    let known =
        [0, 1].map(|id| json!({ "id": id, "score": scores[id], "probability": expected[id] }));
    let mut answer = row("a", &[1], &[CLEAR]);
    answer["passages"] = json!(known);
    let found = [0, 1].map(|id: usize| {
        let passage = Passage {
            title: String::new(),
            text: String::new(),
        };
        FoundPassage {
            id: id as i64,
            passage,
            score: scores[id],
            probability: got[id],
        }
    });
    let got = RetrievedAnswer {
        answer: text("a", &[1]),
        passages: found.to_vec(),
    };
    compared(
        json!({ "retrieved": [answer] }),
        &Response::RetrievedAnswers(vec![got]),
    )
    .0
}

/// With a largest score of 4 and an override of the spec the threshold of probabilities is eight
/// times the threshold of scores, in both measures.
#[test]
fn the_error_of_probabilities_follows_from_that_of_scores() {
    let off = |expected: [f32; 2], by: [f32; 2]| {
        retrieved(
            expected,
            [expected[0] + by[0] * ALLOWED, expected[1] + by[1] * ALLOWED],
        )
    };
    passes(
        off([0.5, 0.5], [3.5, 3.5]),
        "2 passages, 1 of 1 tokens equal, the others within their margin",
    );
    // 9.5 times in the largest error alone, 8.9 times in the mean error alone.
    fails(off([0.5, 0.5], [4.75, 0.0]), "`answer.probabilities`");
    fails(off([0.75, 0.25], [5.0, 5.0]), "`answer.probabilities`");
}

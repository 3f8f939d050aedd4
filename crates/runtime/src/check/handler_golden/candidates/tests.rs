//! Choices with and without recorded candidates.

use super::*;

fn candidates(scores: &[(&'static str, f32)]) -> Vec<AnswerCandidate<&'static str>> {
    scores
        .iter()
        .map(|(key, score)| AnswerCandidate {
            key: *key,
            score: *score,
        })
        .collect()
}

fn failures(got: &[(&'static str, f32)]) -> Vec<String> {
    let recorded = candidates(&[("a", 0.5), ("b", 0.3), ("c", 0.15), ("d", 0.14)]);
    let choice = HandlerChoice {
        what: "row 0".to_owned(),
        allowed: 0.01,
        recorded,
        got: candidates(got),
    };
    choice.evaluate(&mut Numbers::default())
}

#[test]
fn a_candidate_may_be_replaced_by_one_that_is_as_likely() {
    assert_eq!(
        failures(&[("a", 0.5), ("b", 0.3), ("c", 0.15)]),
        Vec::<String>::new()
    );
    assert_eq!(
        failures(&[("a", 0.5), ("b", 0.3), ("d", 0.146)]),
        Vec::<String>::new()
    );
    assert!(failures(&[("a", 0.5), ("c", 0.15)])[0].contains("expected \"b\" instead of \"c\""));
    assert!(failures(&[("b", 0.3), ("a", 0.5)])[0].contains("the best is not first"));
    assert!(
        failures(&[("a", 0.5), ("e", 0.3)])[0]
            .contains("\"e\" is not among the recorded candidates")
    );
    assert!(failures(&[])[0].contains("nothing was chosen"));
}

#[test]
fn the_scores_of_chosen_candidates_are_compared() {
    let mut scores = Numbers::default();
    let recorded = candidates(&[("a", 0.5), ("b", 0.3)]);
    let got = candidates(&[("a", 0.4)]);
    HandlerChoice {
        what: String::new(),
        allowed: 0.0,
        recorded,
        got,
    }
    .evaluate(&mut scores);
    assert_eq!((scores.expected, scores.got), (vec![0.5], vec![0.4]));
}

#[test]
fn scores_that_differ_by_twice_the_allowed_error_may_change_places() {
    let missed = |allowed| {
        let recorded = candidates(&[("a", 0.75), ("b", 0.5)]);
        let choice = HandlerChoice {
            what: String::new(),
            allowed,
            recorded,
            got: candidates(&[("b", 0.5)]),
        };
        !choice.evaluate(&mut Numbers::default()).is_empty()
    };
    assert!(!missed(0.125));
    assert!(missed(0.124));
}

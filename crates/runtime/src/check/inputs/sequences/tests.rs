//! Generated rows, their padding, and the facts about a model that they need.

use super::*;
use crate::check::{run::Abort, tests::OnHost};
use std::collections::{BTreeMap, BTreeSet};
use testgen_models::Pooling;
use testgen_types::Architecture;

const FACTS: TextFacts<'_> = TextFacts {
    stream: TokenSequence::Text,
    pad: 0,
    pad_is_configured: true,
    vocab: 9,
    longest: 64,
    causal: true,
    reads_left_padding: false,
    pooling: Pooling::Fixed,
    end: None,
    reserved: None,
};

#[test]
fn a_model_with_few_positions_is_skipped() {
    assert_eq!(FACTS.too_short_for(64), None);
    let why = "the model has 64 positions; this check needs a text of 65";
    assert_eq!(FACTS.too_short_for(65).as_deref(), Some(why));
}

#[test]
fn left_padding_comes_with_the_positions_of_generate() {
    let rows = Sequences(vec![vec![5, 6, 7], vec![8]]);
    let left = rows.padded(4, PaddedSide::Left, FACTS);
    assert_eq!(
        left["input_ids"].as_integers(),
        Some(&[0, 5, 6, 7, 0, 0, 0, 8][..])
    );
    assert_eq!(
        left["attention_mask"].as_integers(),
        Some(&[0, 1, 1, 1, 0, 0, 0, 1][..])
    );
    assert_eq!(
        left["position_ids"].as_integers(),
        Some(&[0, 0, 1, 2, 0, 0, 0, 0][..])
    );
    let right = rows.padded(4, PaddedSide::Right, FACTS);
    assert_eq!(
        right["input_ids"].as_integers(),
        Some(&[5, 6, 7, 0, 8, 0, 0, 0][..])
    );
    assert!(!right.contains_key("position_ids"));
}

/// The rows of a case with these ids and this mask.
fn sequences(ids: Array, mask: Array) -> Option<Sequences> {
    let inputs = Arrays::from([
        ("input_ids".to_owned(), ids),
        ("attention_mask".to_owned(), mask),
    ]);
    let case = RecordedCase {
        name: "main".to_owned(),
        inputs,
        outputs: BTreeMap::new(),
        texts: None,
        retrieval: Arrays::new(),
    };
    Sequences::of_case(&case, TokenSequence::Text)
}

#[test]
fn rows_of_codebooks_are_not_texts() {
    let integers = |shape: &[usize]| Array::integers(shape, vec![1; shape.iter().product()]);
    assert_eq!(
        sequences(integers(&[1, 2]), integers(&[1, 2])),
        Some(Sequences(vec![vec![1, 1]]))
    );
    assert_eq!(sequences(integers(&[4, 2]), integers(&[1, 2])), None);
    assert_eq!(sequences(integers(&[1, 2, 2]), integers(&[1, 2])), None);
}

#[test]
fn each_choice_of_a_text_is_a_row() {
    let ids = Array::integers([1, 2, 2], vec![5, 6, 7, 0]);
    let mask = Array::integers([1, 2, 2], vec![1, 1, 1, 0]);
    let rows = Sequences(vec![vec![5, 6], vec![7]]);
    assert_eq!(sequences(ids, mask), Some(rows));
}

#[test]
fn replaced_ids_differ_and_are_never_padding() {
    for id in 0..9 {
        let other = another(id, FACTS);
        assert!(
            other != id && other != 0 && (0..9).contains(&other),
            "{id} {other}"
        );
    }
    // Far from the id, because neighbouring ids are often similar tokens.
    let of_thirty = TextFacts { vocab: 30, ..FACTS };
    assert_eq!([1, 5, 25].map(|id| another(id, of_thirty)), [12, 16, 6]);
    let rows = Sequences::generated(3, 40, FACTS);
    assert!(rows.0.iter().flatten().all(|id| (1..9).contains(id)));
    assert_ne!(rows.0[0], rows.0[1]);
    assert_eq!(rows, Sequences::generated(3, 40, FACTS));
    let changed = rows.changed_from(39, FACTS);
    assert_eq!(changed.prefix(39), rows.prefix(39));
    assert_ne!(changed.0[0][39], rows.0[0][39]);
}

#[test]
fn generated_ids_are_all_that_are_not_special() {
    let facts = TextFacts {
        vocab: 8,
        pad: 7,
        end: Some(3),
        reserved: Some(5),
        ..FACTS
    };
    let rows = Sequences::generated(2, 100, facts);
    let found: BTreeSet<i64> = rows.0.into_iter().flatten().collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [0, 1, 2, 4, 6]);
}

#[test]
fn the_end_token_is_the_last_of_each_row_on_both_sides() {
    let rows = Sequences(vec![vec![5, 6, 7], vec![5]]);
    let ids = |side| {
        rows.padded(
            4,
            side,
            TextFacts {
                end: Some(8),
                ..FACTS
            },
        )["input_ids"]
            .clone()
    };
    assert_eq!(
        ids(PaddedSide::Left),
        Array::integers([2, 4], vec![0, 5, 6, 8, 0, 0, 0, 8])
    );
    assert_eq!(
        ids(PaddedSide::Right),
        Array::integers([2, 4], vec![5, 6, 8, 0, 8, 0, 0, 0])
    );
}

#[test]
fn padding_changes_pooled_outputs_as_the_pooling_says() {
    let ignored = |pooling, causal, pad_is_configured| {
        let facts = TextFacts {
            pooling,
            causal,
            pad_is_configured,
            ..FACTS
        };
        [PaddedSide::Left, PaddedSide::Right].map(|side| facts.pooled_ignores_padding(side))
    };
    assert_eq!(
        ignored(Pooling::Fixed, false, false),
        [true, true],
        "an encoder reads its first token"
    );
    assert_eq!(
        ignored(Pooling::Fixed, true, true),
        [true, true],
        "a decoder searches for the pad token"
    );
    assert_eq!(
        ignored(Pooling::Fixed, true, false),
        [true, false],
        "without one it reads the last column"
    );
    assert_eq!(ignored(Pooling::EndToken, false, true), [false, true]);
    assert_eq!(ignored(Pooling::LastColumn, false, true), [false, false]);
}

#[test]
fn a_pad_token_outside_the_vocabulary_is_not_used() {
    let pad = |recorded: i64| {
        OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
            let (mut golden, tested) = (run.golden()?, run.subject_under_test()?);
            golden.pad_token_id = Some(recorded);
            Ok::<_, Abort>(run.text_facts(&tested, &golden).pad)
        })
    };
    // The fixture has 164 ids, no pad token, and the end token 2.
    assert_eq!([5, 163, 164, 9999].map(pad), [Ok(5), Ok(163), Ok(2), Ok(2)]);
}

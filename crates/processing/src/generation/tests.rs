//! Generation over a session with hand-made logits: what is chosen, when it ends, and what the
//! model is fed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::processor::Processor;
use testgen_nn::forward::{Forward, ForwardError};

const VOCABULARY: usize = 8;

/// Returns for each row the logits that `next` computes from its newest token, and records its
/// inputs.
struct Fake {
    next: fn(i64) -> [f32; VOCABULARY],
    fed: Vec<Arrays>,
}

impl Session for Fake {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        self.fed.push(inputs.clone());
        let ids = &inputs["input_ids"];
        let logits: Vec<f32> = ids
            .as_integers()
            .unwrap()
            .iter()
            .flat_map(|id| (self.next)(*id))
            .collect();
        let shape = [ids.shape()[0], ids.shape()[1], VOCABULARY];
        let outputs = Arrays::from([("logits".to_owned(), Array::floats(shape, logits))]);
        Ok(Forward {
            outputs,
            ..Forward::default()
        })
    }

    fn reset(&mut self) {
        self.fed.clear();
    }

    fn length(&self) -> usize {
        self.fed.len()
    }
}

/// The token after the newest one is the likeliest, the one after that comes close.
fn counting(id: i64) -> [f32; VOCABULARY] {
    let mut logits = [0.0; VOCABULARY];
    logits[(id as usize + 1) % VOCABULARY] = 2.0;
    logits[(id as usize + 2) % VOCABULARY] = 1.5;
    logits
}

fn controls(max_new_tokens: usize) -> GenerationControls {
    GenerationControls {
        max_new_tokens: Some(max_new_tokens),
        ..GenerationControls::default()
    }
}

fn sampled(seed: u64) -> GenerationControls {
    GenerationControls {
        do_sample: Some(true),
        seed: Some(seed),
        ..controls(24)
    }
}

fn prompt(rows: &[&[i64]]) -> Arrays {
    let longest = rows.iter().map(|row| row.len()).max().unwrap();
    let fill = |value: fn(i64) -> i64| {
        Array::integers(
            [rows.len(), longest],
            rows.iter()
                .flat_map(|row| {
                    let padding = std::iter::repeat_n(0, longest - row.len());
                    padding
                        .chain(row.iter().map(|id| value(*id)))
                        .collect::<Vec<i64>>()
                })
                .collect::<Vec<i64>>(),
        )
    };
    Arrays::from([
        ("input_ids".to_owned(), fill(|id| id)),
        ("attention_mask".to_owned(), fill(|_| 1)),
    ])
}

fn run(rows: &[&[i64]], controls: &GenerationControls) -> (Vec<Continuation>, Vec<Arrays>) {
    let settings = GenerationSettings::new(controls, &GenerationDefaults::default(), 3).unwrap();
    let mut session = Fake {
        next: counting,
        fed: Vec::new(),
    };
    let rows = generate(&mut session, &prompt(rows), &settings, true).unwrap();
    (rows, session.fed)
}

fn ids(rows: &[&[i64]], controls: &GenerationControls) -> Vec<Vec<i64>> {
    run(rows, controls)
        .0
        .into_iter()
        .map(|row| row.ids)
        .collect()
}

#[test]
fn greedy_takes_the_likeliest_until_the_end_token_or_the_limit() {
    let with_end = GenerationControls {
        eos_token_ids: Some(vec![6, 3]),
        ..controls(4)
    };
    let (rows, fed) = run(&[&[1], &[6]], &with_end);
    assert_eq!(
        (rows[0].ids.as_slice(), rows[0].finish),
        ([2, 3].as_slice(), FinishReason::EndToken)
    );
    assert_eq!(
        (rows[1].ids.as_slice(), rows[1].finish),
        ([7, 0, 1, 2].as_slice(), FinishReason::Length)
    );
    assert_eq!(rows[0].logits.as_ref().unwrap().shape(), [2, VOCABULARY]);
    assert_eq!(fed.len(), 4);
    assert!(
        fed.iter()
            .all(|inputs| !inputs.contains_key("attention_mask")),
        "no padding, no mask"
    );
    let late = GenerationControls {
        min_new_tokens: Some(3),
        ..with_end
    };
    assert_eq!(ids(&[&[1]], &late), [[2, 4, 5, 6]]);
    assert_eq!(ids(&[&[1]], &controls(0)), [Vec::<i64>::new()]);
}

#[test]
fn padding_is_masked_and_not_counted() {
    let (_, fed) = run(&[&[1, 2, 3], &[5]], &controls(2));
    let input = |call: usize, name: &str| fed[call][name].as_integers().unwrap().to_vec();
    assert_eq!(input(0, "attention_mask"), [1, 1, 1, 0, 0, 1]);
    assert_eq!(input(0, "position_ids"), [0, 1, 2, 0, 0, 0]);
    assert_eq!(input(1, "input_ids"), [4, 6]);
    assert_eq!(input(1, "attention_mask"), [1, 1, 1, 1, 0, 0, 1, 1]);
    assert_eq!(input(1, "position_ids"), [3, 1]);
}

#[test]
fn draws_repeat_with_the_seed_and_a_row_alone_equals_the_row_in_a_batch() {
    let drawn = ids(&[&[1, 2], &[5]], &sampled(7));
    assert_eq!(drawn, ids(&[&[1, 2], &[5]], &sampled(7)));
    assert_ne!(drawn, ids(&[&[1, 2], &[5]], &sampled(8)));
    assert_eq!(drawn[1], ids(&[&[5]], &sampled(7))[0]);
    assert_ne!(
        drawn[1],
        ids(&[&[5]], &controls(24))[0],
        "24 draws that are all greedy"
    );
}

#[test]
fn narrow_controls_are_greedy() {
    let greedy = ids(&[&[1]], &controls(24));
    for narrow in [
        GenerationControls {
            temperature: Some(0.0),
            ..sampled(1)
        },
        GenerationControls {
            temperature: Some(1e-6),
            ..sampled(1)
        },
        GenerationControls {
            top_k: Some(1),
            ..sampled(1)
        },
        GenerationControls {
            top_p: Some(1e-6),
            ..sampled(1)
        },
    ] {
        assert_eq!(ids(&[&[1]], &narrow), greedy, "{narrow:?}");
    }
    let two = ids(
        &[&[1]],
        &GenerationControls {
            top_k: Some(2),
            ..sampled(1)
        },
    );
    let steps: Vec<i64> = std::iter::once(1).chain(two[0].iter().copied()).collect();
    assert!(
        steps
            .windows(2)
            .all(|pair| (1..=2).contains(&(pair[1] - pair[0]).rem_euclid(8))),
        "{steps:?}"
    );
}

#[test]
fn repeated_tokens_are_penalized() {
    let penalized = GenerationControls {
        repetition_penalty: Some(1.5),
        ..controls(1)
    };
    assert_eq!(ids(&[&[2, 1]], &penalized), [[3]]);
    assert_eq!(ids(&[&[1]], &penalized), [[2]]);
    assert_eq!(
        ids(&[&[1, 2, 3], &[7]], &penalized),
        [[4], [0]],
        "padding does not count as a token"
    );
}

#[test]
fn impossible_settings_are_errors() {
    let settings = |controls: &GenerationControls| {
        GenerationSettings::new(controls, &GenerationDefaults::default(), 1)
    };
    let problem = |controls: GenerationControls| settings(&controls).unwrap_err().to_string();
    assert!(
        problem(GenerationControls {
            temperature: Some(-1.0),
            ..controls(1)
        })
        .contains("`temperature` is -1")
    );
    assert!(
        problem(GenerationControls {
            top_p: Some(0.0),
            ..controls(1)
        })
        .contains("`top_p`")
    );
    assert!(
        problem(GenerationControls {
            repetition_penalty: Some(f32::NAN),
            ..controls(1)
        })
        .contains("penalty")
    );
    assert!(
        problem(GenerationControls {
            min_new_tokens: Some(2),
            ..controls(1)
        })
        .contains("`min_new_tokens` is 2")
    );
    let settings = settings(&controls(1)).unwrap();
    let mut broken = Fake {
        next: |_| [f32::NAN; VOCABULARY],
        fed: Vec::new(),
    };
    let error = generate(&mut broken, &prompt(&[&[1]]), &settings, false).unwrap_err();
    assert!(matches!(
        error,
        GenerationError::NotFinite { row: 0, step: 0 }
    ));
    let mut right = prompt(&[&[1, 2]]);
    right.insert(
        "attention_mask".to_owned(),
        Array::integers([1, 2], vec![1, 0]),
    );
    let mut session = Fake {
        next: counting,
        fed: Vec::new(),
    };
    assert!(
        generate(&mut session, &right, &settings, false)
            .unwrap_err()
            .to_string()
            .contains("right")
    );
}

#[test]
fn the_checkpoint_decides_what_the_caller_leaves_open() {
    let read = |text: &str| {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("generation_config.json"), text).unwrap();
        Processor::open(directory.path())
            .unwrap()
            .generation()
            .clone()
    };
    let defaults = read(
        r#"{"eos_token_id": [3, 4], "pad_token_id": 5, "max_length": 9, "do_sample": true, "top_p": 0.5}"#,
    );
    let settings = GenerationSettings::new(&GenerationControls::default(), &defaults, 4).unwrap();
    assert_eq!(
        (
            settings.max_new_tokens,
            settings.pad,
            settings.eos.as_slice()
        ),
        (5, 5, [3, 4].as_slice())
    );
    assert_eq!(settings.sampling.unwrap().top_p, 0.5);
    assert_eq!(settings.sampling.unwrap().top_k, 50);
    let greedy = GenerationControls {
        do_sample: Some(false),
        ..controls(2)
    };
    assert_eq!(
        GenerationSettings::new(&greedy, &defaults, 4)
            .unwrap()
            .sampling,
        None
    );
    let beams = read(r#"{"num_beams": 4}"#);
    let problem = GenerationSettings::new(&greedy, &beams, 4)
        .unwrap_err()
        .to_string();
    assert!(problem.contains("`num_beams`"), "{problem}");
}

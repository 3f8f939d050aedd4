//! The inputs that are read with a cache, the classes without one, and how their outputs are
//! joined.

use super::*;
use crate::check::tests::OnHost;
use testgen_nn::forward::Forward;

#[test]
fn steps_are_concatenated_along_the_sequence() {
    let array = |shape: [usize; 3], values: &[f32]| Array::floats(shape, values.to_vec());
    let one = array([2, 1, 2], &[1.0, 2.0, 5.0, 6.0]);
    let two = array([2, 2, 2], &[3.0, 4.0, 3.5, 4.5, 7.0, 8.0, 7.5, 8.5]);
    let joined = concatenate(&[&one, &two]);
    assert_eq!(joined.shape(), [2, 3, 2]);
    assert_eq!(joined.narrow(1, 0, 1), one);
    assert_eq!(joined.narrow(1, 1, 2), two);
}

/// A session that remembers the widths of ids and masks, and returns the ids.
#[derive(Default)]
struct Recorded(Vec<[usize; 2]>);

impl Session for Recorded {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let ids = &inputs["input_ids"];
        self.0
            .push([ids, &inputs["attention_mask"]].map(|array| array.shape()[1]));
        let values: Vec<f32> = ids
            .as_integers()
            .unwrap_or_default()
            .iter()
            .map(|id| *id as f32)
            .collect();
        let logits = Array::floats([1, values.len(), 1], values);
        Ok(Forward {
            outputs: Arrays::from([("logits".to_owned(), logits)]),
            ..Forward::default()
        })
    }

    fn reset(&mut self) {}

    fn length(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn each_step_has_new_ids_and_the_whole_mask_and_none_is_empty() {
    let inputs = Arrays::from([
        (
            "input_ids".to_owned(),
            Array::integers([1, 4], vec![4, 5, 6, 7]),
        ),
        (
            "attention_mask".to_owned(),
            Array::integers([1, 4], vec![1; 4]),
        ),
    ]);
    let mut session = Recorded::default();
    let outputs = advance_in_steps(&mut session, TokenSequence::Text, &inputs, &[2, 0, 1, 1]);
    assert_eq!(session.0, [[2, 2], [1, 3], [1, 4]]);
    let logits = outputs
        .ok()
        .and_then(|mut outputs| outputs.remove("logits"));
    assert_eq!(
        logits,
        Some(Array::floats([1, 4, 1], vec![4.0, 5.0, 6.0, 7.0]))
    );
}

#[test]
fn classifiers_have_no_cache() {
    for class in [
        "LlamaForSequenceClassification",
        "Qwen2ForTokenClassification",
        "GPT2ForQuestionAnswering",
    ] {
        assert!(
            class_without_cache(class).is_some_and(|why| why.contains(class)),
            "{class}"
        );
    }
    assert_eq!(class_without_cache("LlamaForCausalLM"), None);
}

#[test]
fn recorded_rows_are_cut_so_that_padding_has_room() {
    // The first case has 30 columns, the longest 36.
    for (longest, expected) in [(64, [36, 30 + LEFT]), (20, [20 - LEFT, 20])] {
        let widths = OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
            let (golden, tested) = (run.golden()?, run.subject_under_test()?);
            let facts = TextFacts {
                longest,
                ..run.text_facts(&tested, &golden)
            };
            let width = |input: CachedInput| (input.label, input.arrays["input_ids"].shape()[1]);
            Ok::<_, Abort>(
                CachedInput::recorded(&golden, facts)?
                    .into_iter()
                    .map(width)
                    .collect::<Vec<_>>(),
            )
        });
        let [unpadded, padded] = expected;
        assert_eq!(
            widths,
            Ok(vec![("unpadded", unpadded), ("padded left", padded)])
        );
    }
}

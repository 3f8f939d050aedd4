//! Inputs that a model cannot compute: refused by name, before a kernel reads past a table.

use crate::{checkpoint::Checkpoint, load_model::load_model};
use std::path::Path;
use testgen_nn::{
    array::{Array, Arrays},
    device::BackendDevice,
    weights::Residency,
};
use testgen_types::{ModelType, Precision};

/// The error of a call of a fixture.
#[track_caller]
fn error<const N: usize>(
    model_type: ModelType,
    fixture: &str,
    inputs: [(&str, Array); N],
) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let model = load_model(
        model_type,
        &Checkpoint::at(fixtures.join(fixture)),
        &BackendDevice::Cpu(Default::default()),
        Precision::F32,
        Residency::Resident,
    )
    .expect("the fixture loads");
    let inputs: Arrays = inputs.map(|(name, array)| (name.to_owned(), array)).into();
    let error = model.forward(&inputs).expect_err("it is refused");
    error.to_string()
}

fn ids(id: i64) -> Array {
    Array::integers([1, 2], vec![id; 2])
}

#[test]
fn a_text_without_tokens() {
    let empty = Array::integers([2, 0], Vec::new());
    let error = error(ModelType::Bert, "bert", [("input_ids", empty)]);
    assert_eq!(
        error,
        "input `input_ids` is a tensor of shape [2, 0], expected integers of shape [batch, seq], at least one"
    );
}

#[test]
fn a_mask_of_recordings_that_is_not_of_integers_or_of_another_length() {
    let samples = Array::floats([1, 4000], vec![0.5; 4000]);
    for mask in [samples.clone(), Array::integers([1, 2], vec![1, 0])] {
        let inputs = [("input_values", samples.clone()), ("attention_mask", mask)];
        let error = error(ModelType::Wav2Vec2, "wav2vec2", inputs);
        assert!(
            error.ends_with("expected integers of the shape of `input_values`"),
            "{error}"
        );
    }
}

#[test]
fn labels_outside_the_vocabulary_or_of_another_length() {
    let error = |labels: Array| {
        let inputs = [
            ("context_input_ids", ids(5)),
            ("doc_scores", Array::floats([1, 1], vec![1.0])),
            ("decoder_input_ids", ids(5)),
            ("labels", labels),
        ];
        error(ModelType::Rag, "rag_token", inputs)
    };
    let outside = error(ids(1_000_000));
    assert!(outside.contains("`labels`"), "{outside}");
    assert!(outside.contains("1000000"), "{outside}");
    let longer = error(Array::integers([1, 3], vec![5; 3]));
    assert!(
        longer.ends_with("expected integers of the shape of `decoder_input_ids`"),
        "{longer}"
    );
}

#[test]
fn a_text_of_another_length_than_the_decoders_whose_states_its_end_token_selects() {
    for shape in [[1, 2], [1, 6]] {
        let inputs = [
            ("input_ids", Array::integers([1, 4], vec![2; 4])),
            (
                "decoder_input_ids",
                Array::integers(shape, vec![2; shape[1]]),
            ),
        ];
        let error = error(ModelType::Bart, "bart_classification", inputs);
        let expected = format!(
            "input `input_ids` is a tensor of shape [1, 4], \
             expected {shape:?}, the shape of `decoder_input_ids`"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn a_mask_of_pixels_of_another_number_of_images_or_without_pixels() {
    for shape in [[1, 32, 32], [3, 32, 32], [2, 0, 32]] {
        let images = Array::floats([2, 3, 32, 32], vec![0.5; 2 * 3 * 32 * 32]);
        let mask = Array::integers(shape, vec![1; shape.iter().product()]);
        let inputs = [("pixel_values", images), ("pixel_mask", mask)];
        let error = error(ModelType::Detr, "detr", inputs);
        let expected = format!(
            "input `pixel_mask` is a tensor of shape {shape:?}, \
             expected integers of shape [2, height, width]"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn an_image_with_more_rows_than_learned_positions() {
    // The backbone makes one feature of eight pixels.
    let (height, width) = (8 * 51, 8);
    let image = Array::floats([1, 3, height, width], vec![0.5; 3 * height * width]);
    let error = error(ModelType::Detr, "detr_learned", [("pixel_values", image)]);
    assert_eq!(
        error,
        "input `pixel_values` is images with 51 rows and 1 columns of features, expected at most 50, for which positions were learned"
    );
}

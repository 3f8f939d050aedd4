//! Handlers with real models: a fixture's checkpoint and plain text or images in, the answers of
//! transformers' pipelines out.
//!
//! `expected.json` is recorded by `record.py` in this folder. Question answering has no case: its
//! fixture has no tokenizer.

mod generated;
mod graph;
mod support;
#[expect(dead_code, reason = "metadata is read by the tests of preprocessing")]
#[path = "../preprocess/tensors.rs"]
mod tensors;

use support::{
    answer, assert_array, assert_close, assert_labels, expected, golden, images, recorded_images,
    texts,
};
use testgen_runtime::{
    Array, GenerationControls, ModelType, Task,
    task::{self, Request, Response, TimeSeries},
};

#[test]
fn text_embedding_returns_the_vectors_of_the_tokens() {
    let expected = expected("bert");
    let request = Request::Texts(texts(&expected["texts"]));
    let response = answer(
        "bert",
        ModelType::Bert,
        Task::TextEmbedding,
        task::text_embedding,
        request,
    );
    let Response::TextEmbeddings(embeddings) = response else {
        panic!("it is {response:?}")
    };
    assert_eq!(embeddings.len(), 2);
    for (index, embedding) in embeddings.iter().enumerate() {
        assert_array(
            &embedding.tokens,
            &expected["tokens"][index],
            &format!("text {index}"),
        );
    }
}

#[test]
fn fill_mask_returns_the_five_likeliest_tokens() {
    let expected = expected("bert_masked_lm");
    let request = Request::texts([expected["text"].as_str().expect("a text")]);
    let response = answer(
        "bert_masked_lm",
        ModelType::Bert,
        Task::FillMask,
        task::fill_mask,
        request,
    );
    let Response::FilledMasks(filled) = response else {
        panic!("it is {response:?}")
    };
    assert_eq!(
        (filled.len(), filled[0].len(), filled[0][0].len()),
        (1, 1, 5)
    );
    for (index, filled) in filled[0][0].iter().enumerate() {
        assert_eq!(filled.id, expected["filled"][index][0], "token {index}");
        assert_close(
            f64::from(filled.score),
            &expected["filled"][index][1],
            "its probability",
        );
    }
}

#[test]
fn text_generation_continues_as_the_reference() {
    let expected = expected("gpt2");
    let controls = GenerationControls {
        max_new_tokens: Some(6),
        do_sample: Some(false),
        ..GenerationControls::default()
    };
    let request = Request::Prompts {
        prompts: texts(&expected["prompts"]),
        controls,
    };
    let response = answer(
        "gpt2",
        ModelType::Gpt2,
        Task::TextGeneration,
        task::text_generation,
        request,
    );
    let Response::Generations(generated) = response else {
        panic!("it is {response:?}")
    };
    assert_eq!(
        generated
            .iter()
            .map(|each| each.text.clone())
            .collect::<Vec<_>>(),
        texts(&expected["generated"])
    );
}

#[test]
fn text_classification_returns_every_label() {
    let expected = expected("llama_classification");
    let request = Request::Texts(texts(&expected["texts"]));
    let task = Task::TextClassification;
    let response = answer(
        "llama_classification",
        ModelType::Llama,
        task,
        task::text_classification,
        request,
    );
    let Response::Labels(labels) = response else {
        panic!("it is {response:?}")
    };
    assert_labels(&labels, &expected["labels"]);
}

#[test]
fn token_classification_returns_the_label_and_place_of_every_token() {
    let expected = expected("roberta_token_classification");
    let request = Request::Texts(texts(&expected["texts"]));
    let task = Task::TokenClassification;
    let response = answer(
        "roberta_token_classification",
        ModelType::Roberta,
        task,
        task::token_classification,
        request,
    );
    let Response::TokenLabels(tokens) = response else {
        panic!("it is {response:?}")
    };
    assert_eq!(tokens.len(), 2);
    for (tokens, expected) in tokens.iter().zip(
        expected["tokens"]
            .as_array()
            .expect("one entry for each text"),
    ) {
        assert_eq!(tokens.len(), expected.as_array().map_or(0, Vec::len));
        for (index, token) in tokens.iter().enumerate() {
            let [label, score, start, end] = [0, 1, 2, 3].map(|field| &expected[index][field]);
            assert_eq!(
                (&token.label.label, token.start, token.end),
                (
                    &label.as_str().expect("a label").to_owned(),
                    start.as_u64().map_or(0, |place| place as usize),
                    end.as_u64().map_or(0, |place| place as usize),
                )
            );
            assert_close(
                f64::from(token.label.score),
                score,
                &format!("token {index}"),
            );
        }
    }
}

#[test]
fn image_classification_returns_every_label() {
    let response = answer(
        "vit",
        ModelType::Vit,
        Task::ImageClassification,
        task::image_classification,
        images("vit"),
    );
    let Response::Labels(labels) = response else {
        panic!("it is {response:?}")
    };
    assert_labels(&labels, &expected("vit")["labels"]);
}

#[track_caller]
fn assert_objects(fixture: &str, model_type: ModelType) {
    let expected = expected(fixture);
    let expected = expected["objects"]
        .as_array()
        .expect("a list for each image");
    for (image, expected) in recorded_images(fixture).into_iter().zip(expected) {
        let request = Request::Images(vec![image]);
        let response = answer(
            fixture,
            model_type,
            Task::ObjectDetection,
            task::object_detection,
            request,
        );
        let Response::Detections(found) = response else {
            panic!("these are not detections")
        };
        assert_eq!(
            found[0].len(),
            expected.as_array().expect("a list of objects").len(),
            "{fixture}"
        );
        for (found, expected) in found[0].iter().zip(expected.as_array().expect("it is one")) {
            assert_eq!(found.label.label, expected[0], "{fixture}");
            assert_close(f64::from(found.label.score), &expected[1], fixture);
            for (corner, side) in found.corners.iter().enumerate() {
                assert_close(
                    f64::from(*side),
                    &expected[2][corner],
                    &format!("{fixture}, corner {corner}"),
                );
            }
        }
    }
}

#[test]
fn object_detection_returns_labels_and_corners() {
    assert_objects("detr", ModelType::Detr);
    assert_objects("yolos", ModelType::Yolos);
}

#[test]
fn image_embedding_returns_the_vectors_of_the_patches() {
    let response = answer(
        "vit_base",
        ModelType::Vit,
        Task::ImageEmbedding,
        task::image_embedding,
        images("vit_base"),
    );
    let Response::ImageEmbeddings(embeddings) = response else {
        panic!("it is {response:?}")
    };
    let expected = expected("vit_base");
    assert_eq!(embeddings.len(), 2);
    for (index, embedding) in embeddings.iter().enumerate() {
        assert_array(
            &embedding.patches,
            &expected["patches"][index],
            &format!("image {index}"),
        );
    }
}

#[test]
fn image_text_similarity_ranks_the_texts_of_every_image() {
    for (fixture, model_type) in [("clip", ModelType::Clip), ("siglip", ModelType::Siglip)] {
        let expected = expected(fixture);
        let request = Request::ImagesWithTexts {
            images: recorded_images(fixture),
            texts: texts(&expected["texts"]),
        };
        let task = Task::ImageTextSimilarity;
        let response = answer(
            fixture,
            model_type,
            task,
            task::image_text_similarity,
            request,
        );
        let Response::Labels(labels) = response else {
            panic!("it is {response:?}")
        };
        assert_labels(&labels, &expected["labels"]);
    }
}

#[test]
fn image_text_embedding_returns_vectors_of_length_one() {
    let request = Request::ImagesWithTexts {
        images: recorded_images("clip"),
        texts: vec!["the dog".to_owned()],
    };
    let response = answer(
        "clip",
        ModelType::Clip,
        Task::ImageTextEmbedding,
        task::image_text_embedding,
        request,
    );
    let Response::ImageTextEmbeddings(found) = response else {
        panic!("it is {response:?}")
    };
    assert_eq!((found.images.len(), found.texts.len()), (2, 1));
    for vector in found.images.iter().chain(&found.texts) {
        let square: f32 = vector
            .as_floats()
            .expect("floats")
            .iter()
            .map(|value| value * value)
            .sum();
        assert!(
            (square - 1.0).abs() < 1e-5 && vector.shape() == [24],
            "{square} {:?}",
            vector.shape()
        );
    }
}

/// A tensor of the fixture's goldens.
fn recorded(fixture: &str, name: &str) -> Array {
    golden(fixture)[name].clone()
}

#[track_caller]
fn assert_rows(got: &[Array], expected: &Array) {
    assert_eq!(got.len(), expected.shape()[0]);
    for (row, got) in got.iter().enumerate() {
        let expected = expected.select_rows(&[row]);
        assert_eq!(got.shape(), &expected.shape()[1..]);
        let pairs = got
            .as_floats()
            .expect("floats")
            .iter()
            .zip(expected.as_floats().expect("floats"));
        let far = pairs
            .map(|(got, expected)| (got - expected).abs())
            .fold(0.0, f32::max);
        assert!(far < 1e-4, "row {row} is off by {far}");
    }
}

#[test]
fn time_series_forecasting_goes_on_in_the_unit_of_the_series() {
    let series = recorded("patchtst", "case.1.input.past_values");
    let of_row = |row: usize| {
        let values = series
            .select_rows(&[row])
            .as_floats()
            .expect("floats")
            .to_vec();
        TimeSeries {
            values: Array::floats(&series.shape()[1..], values),
            observed: None,
        }
    };
    let request = Request::Series((0..series.shape()[0]).map(of_row).collect());
    let task = Task::TimeSeriesForecasting;
    let response = answer(
        "patchtst",
        ModelType::PatchTst,
        task,
        task::time_series_forecasting,
        request,
    );
    let Response::Forecasts(forecasts) = response else {
        panic!("it is {response:?}")
    };
    assert_rows(
        &forecasts,
        &recorded("patchtst", "case.1.output.prediction_outputs"),
    );
}

#[test]
fn image_decoding_returns_the_pixels_of_latents() {
    let request = Request::Latents(recorded("autoencoder_kl", "case.2.input.z"));
    let task = Task::ImageDecoding;
    let response = answer(
        "autoencoder_kl",
        ModelType::AutoencoderKl,
        task,
        task::image_decoding,
        request,
    );
    let Response::Pixels(pixels) = response else {
        panic!("it is {response:?}")
    };
    assert_rows(&pixels, &recorded("autoencoder_kl", "case.2.output.sample"));
}

#[test]
fn image_denoising_takes_the_steps_of_the_scheduler() {
    let expected = expected("unet");
    let numbers = |name: &str| -> Vec<f32> {
        serde_json::from_value(expected[name].clone()).expect("numbers")
    };
    let noise = recorded("unet", "input.sample");
    let condition = [(
        "encoder_hidden_states".to_owned(),
        recorded("unet", "input.encoder_hidden_states"),
    )]
    .into();
    let request = Request::Noise {
        noise: noise.clone(),
        condition,
        steps: 3,
    };
    let response = answer(
        "unet",
        ModelType::Unet,
        Task::ImageDenoising,
        task::image_denoising,
        request,
    );
    let Response::Latents(latents) = response else {
        panic!("it is {response:?}")
    };
    assert_rows(&latents, &Array::floats(noise.shape(), numbers("latents")));
}

#[test]
fn image_text_to_text_continues_after_the_image() {
    let expected = expected("llava");
    let controls = GenerationControls {
        max_new_tokens: Some(6),
        do_sample: Some(false),
        ..GenerationControls::default()
    };
    let prompts = texts(&expected["prompts"]);
    let request = Request::ImagePrompts {
        images: recorded_images("llava"),
        prompts,
        controls,
    };
    let response = answer(
        "llava",
        ModelType::Llava,
        Task::ImageTextToText,
        task::image_text_to_text,
        request,
    );
    let Response::Generations(generated) = response else {
        panic!("it is {response:?}")
    };
    let ids: Vec<Vec<i64>> = serde_json::from_value(expected["ids"].clone()).expect("ids");
    assert_eq!(
        generated
            .iter()
            .map(|each| each.ids.clone())
            .collect::<Vec<_>>(),
        ids
    );
}

//! Tasks of images with texts: similarity, vectors and continuations.

use crate::support::{answer, assert_labels, expected, recorded_images, texts};
use testgen_runtime::{
    GenerationControls, ModelType, Task,
    task::{self, Request, Response},
};

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

//! Tasks of images and of latents: labels, objects, vectors and pixels.

use crate::support::{
    answer, assert_array, assert_close, assert_labels, assert_rows, expected, images, recorded,
    recorded_images,
};
use testgen_runtime::{
    Array, ModelType, Task,
    task::{self, Request, Response},
};

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

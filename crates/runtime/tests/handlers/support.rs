//! Fixtures with their recorded answers, and comparing with them.

use crate::tensors::Tensors;
use serde_json::Value;
use std::path::PathBuf;
use testgen_runtime::{
    Architecture, Array, Arrays, CheckEngine, Checkpoint, DeviceIndex, DeviceKind, Endpoint, Image,
    Label, LoadTarget, LoadedModel, ModelType, Precision, Source, Spec, Subject, Task,
    host_processor, load,
    task::{Handler, LabelScore, Request, Response},
};

/// The tolerance in f32: scores are at most 1, vectors of the order of 1.
pub(crate) const TOLERANCE: f64 = 2e-5;

pub(crate) fn directory(fixture: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(fixture)
}

pub(crate) fn golden(fixture: &str) -> Arrays {
    Tensors::read(&directory(fixture).join("golden.safetensors")).arrays
}

pub(crate) fn expected(fixture: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("expected.json")).expect("the file is JSON");
    all[fixture].clone()
}

pub(crate) fn answer(
    fixture: &str,
    model_type: ModelType,
    task: Task,
    handler: Handler,
    request: Request,
) -> Response {
    let spec = Spec {
        name: "handler",
        subject: Subject::Model {
            model_type,
            source: Source {
                path: "",
                hub: None,
            },
        },
        architecture: Architecture::EncoderOnly,
        task,
        devices: &[],
        precisions: &[Precision::F32],
        tolerances: &[],
        vram_mib: None,
        limit_seconds: None,
    };
    let target = LoadTarget {
        checkpoint: Some(Checkpoint::at(directory(fixture))),
        index: DeviceIndex::Auto,
        precision: Some(Precision::F32),
        label: Label::new(fixture, DeviceKind::Cpu),
        engine: CheckEngine::native(),
    };
    let device = target.open(host_processor()).expect("there is a processor");
    let model =
        load(&spec, &target.checkpoint, &device, Precision::F32).expect("the fixture loads");
    let loaded = LoadedModel::new(&target, device, model);
    Endpoint::real(DeviceKind::Cpu, loaded, handler)
        .handle(request)
        .expect("the request suits the task")
}

pub(crate) fn texts(expected: &Value) -> Vec<String> {
    serde_json::from_value(expected.clone()).expect("these are texts")
}

pub(crate) fn images(fixture: &str) -> Request {
    Request::Images(recorded_images(fixture))
}

pub(crate) fn recorded_images(fixture: &str) -> Vec<Image> {
    let golden = golden(fixture);
    let images = golden.iter().filter(|(name, _)| name.starts_with("image."));
    images
        .map(|(_, image)| Image::from_array(image).expect("it is an image"))
        .collect()
}

#[track_caller]
pub(crate) fn assert_close(got: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().expect("it is a number");
    assert!(
        (got - expected).abs() <= TOLERANCE * expected.abs().max(1.0),
        "{what}: got {got}, expected {expected}"
    );
}

#[track_caller]
pub(crate) fn assert_array(got: &Array, expected: &Value, what: &str) {
    let rows = expected.as_array().expect("it is a list of rows");
    assert_eq!(got.shape()[0], rows.len(), "{what}: rows");
    let expected: Vec<&Value> = rows
        .iter()
        .flat_map(|row| row.as_array().expect("a row"))
        .collect();
    let got = got.as_floats().expect("vectors are floats");
    assert_eq!(got.len(), expected.len(), "{what}: elements");
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert_close(
            f64::from(*got),
            expected,
            &format!("{what}, element {index}"),
        );
    }
}

#[track_caller]
pub(crate) fn assert_labels(got: &[Vec<LabelScore>], expected: &Value) {
    let expected = expected.as_array().expect("one entry for each input");
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert_eq!(got.len(), expected.as_array().map_or(0, Vec::len));
        for (index, got) in got.iter().enumerate() {
            assert_eq!(got.label, expected[index][0], "label {index}, best first");
            assert_close(f64::from(got.score), &expected[index][1], &got.label);
        }
    }
}

/// A tensor of the fixture's goldens.
pub(crate) fn recorded(fixture: &str, name: &str) -> Array {
    golden(fixture)[name].clone()
}

#[track_caller]
pub(crate) fn assert_rows(got: &[Array], expected: &Array) {
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

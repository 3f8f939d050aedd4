//! Recorded answers, complete and damaged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use testgen_types::Precision;

fn written(text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(FILE), text).unwrap();
    directory
}

#[test]
fn an_answer_is_read_with_its_noise() {
    let text = r#"{"labels": [[{"label": "a", "score": 0.75}, {"label": "b", "score": 0.25}]]}"#;
    let answer: AnswerEntries = serde_json::from_str(text).unwrap();
    let AnswerEntries::Labels(rows) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!((rows[0][1].label.as_str(), rows[0][1].score), ("b", 0.25));
    let noise = serde_json::from_str(
        r#"{"reference": "float64", "noise_samples": 3, "f16": {"scores": [0.5, 0.25]}}"#,
    );
    let noise = Noise::of_answer(&metadata(&noise.unwrap())).unwrap();
    assert_eq!(noise.level(Precision::F16, "scores").unwrap().max_rel, 0.25);
    assert_eq!(noise.level(Precision::F32, "scores"), None);
}

#[test]
fn what_is_not_recorded_is_reported() {
    let directory = written(r#"{"fill_mask": {}}"#);
    let read = |task| {
        RecordedAnswer::read(directory.path(), task)
            .unwrap_err()
            .to_string()
    };
    assert!(read(Task::TextEmbedding).contains("no answer of `text_embedding`"));
    assert!(read(Task::FillMask).contains("missing field `request`"));
    assert!(
        inapplicable(directory.path(), Task::TextEmbedding)
            .unwrap()
            .contains("`text_embedding`")
    );
    assert_eq!(inapplicable(directory.path(), Task::FillMask), None);
    let nothing = tempfile::tempdir().unwrap();
    assert!(inapplicable(nothing.path(), Task::FillMask).is_some());
    let error = RecordedAnswer::read(nothing.path(), Task::FillMask).unwrap_err();
    assert!(matches!(error, AnswerError::Missing { .. }), "{error}");
    let damaged = written("[]");
    assert_eq!(
        inapplicable(damaged.path(), Task::FillMask),
        None,
        "the check reports it"
    );
    assert!(
        RecordedAnswer::read(damaged.path(), Task::FillMask)
            .unwrap_err()
            .to_string()
            .contains("is invalid")
    );
}

#[test]
fn a_vector_has_the_elements_of_its_shape() {
    let vector = |shape: &[usize]| Vector {
        shape: shape.to_vec(),
        values: vec![1.0, 2.0],
    };
    assert_eq!(vector(&[2, 1]).array().unwrap().shape(), [2, 1]);
    assert!(vector(&[3]).array().is_none());
}

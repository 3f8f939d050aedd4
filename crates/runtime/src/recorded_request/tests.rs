//! Recorded requests, complete and damaged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn request(fields: &str, tensors: &[(&str, Array)]) -> RecordedRequest {
    let golden = tensors
        .iter()
        .map(|(name, array)| ((*name).to_owned(), array.clone()))
        .collect();
    RecordedRequest::new(serde_json::from_str(fields).unwrap(), golden)
}

#[test]
fn texts_questions_and_controls_are_written_out() {
    let recorded = request(
        r#"{"texts": ["a", "b"], "questions": [{"question": "q", "context": "c"}], "prompts": ["p"],
            "choices": [{"prompt": "t", "choices": ["u", "v"]}],
            "documents": [{"question": "q", "words": [{"text": "w", "corners": [1, 2, 3, 4]}]}],
            "controls": {"max_new_tokens": 4, "do_sample": false}, "steps": 3}"#,
        &[],
    );
    assert_eq!(recorded.texts().unwrap(), ["a", "b"]);
    assert_eq!(recorded.questions().unwrap()[0].context, "c");
    let corners = recorded.documents().unwrap()[0].words[0].corners;
    assert_eq!(corners, [1, 2, 3, 4]);
    assert_eq!(recorded.choices().unwrap()[0].choices, ["u", "v"]);
    assert_eq!(recorded.prompts().unwrap(), ["p"]);
    assert_eq!(recorded.steps().unwrap(), 3);
    let controls = recorded.controls().unwrap();
    assert_eq!(
        (
            controls.max_new_tokens,
            controls.do_sample,
            controls.num_beams
        ),
        (Some(4), Some(false), None)
    );
}

#[test]
fn a_missing_part_is_named() {
    let empty = request("{}", &[]);
    let messages = [
        empty.texts().unwrap_err(),
        empty.questions().unwrap_err(),
        empty.documents().unwrap_err(),
        empty.choices().unwrap_err(),
        empty.prompts().unwrap_err(),
        empty.controls().unwrap_err(),
        empty.recordings().unwrap_err(),
        empty.images().unwrap_err(),
        empty.videos().unwrap_err(),
        empty.noise().unwrap_err(),
        empty.condition().unwrap_err(),
        empty.steps().unwrap_err(),
        empty.latents().unwrap_err(),
        empty.series().unwrap_err(),
        empty.graphs().unwrap_err(),
    ]
    .map(|error| error.to_string());
    let parts = [
        "texts",
        "questions",
        "documents",
        "choices",
        "prompts",
        "controls",
        "recordings",
        "images",
        "videos",
        "noise",
        "condition",
        "steps",
        "latents",
        "series",
        "graphs",
    ];
    for (message, part) in messages.iter().zip(parts) {
        assert!(message.contains(&format!("no `{part}`")), "{message}");
    }
}

#[test]
fn tensors_of_the_golden_become_inputs() {
    let recorded = request(
        r#"{"recordings": {"tensors": ["audio.0"], "sampling_rate": 8000}, "images": ["image.0"],
            "noise": "input.sample", "condition": {"encoder_hidden_states": "input.sample"}, "latents": "input.sample",
            "graphs": ["graph.0"]}"#,
        &[
            ("audio.0", Array::floats([2], vec![0.5, -0.5])),
            ("image.0", Array::bytes([1, 1, 3], vec![1, 2, 3])),
            ("input.sample", Array::floats([1, 1, 1, 1], vec![2.0])),
            ("graph.0.num_nodes", Array::integers([1], vec![2])),
            ("graph.0.edge_index", Array::integers([2, 1], vec![0, 1])),
        ],
    );
    assert_eq!(
        recorded.recordings().unwrap(),
        [Audio {
            sampling_rate: 8000,
            samples: vec![0.5, -0.5]
        }]
    );
    assert_eq!(recorded.images().unwrap()[0].width(), 1);
    assert_eq!(recorded.noise().unwrap(), recorded.latents().unwrap());
    assert_eq!(
        recorded.condition().unwrap()["encoder_hidden_states"].shape(),
        [1, 1, 1, 1]
    );
    let graphs = recorded.graphs().unwrap();
    assert_eq!(
        (graphs[0].num_nodes, graphs[0].node_feat.is_none()),
        (2, true)
    );
}

#[test]
fn series_are_rows_and_their_mask_becomes_integers() {
    let fields =
        r#"{"series": {"values": "input.past_values", "observed": "input.past_observed_mask"}}"#;
    let values = (
        "input.past_values",
        Array::floats([2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]),
    );
    let mask = Array::floats([2, 1, 2], vec![1.0, 0.0, 1.0, 1.0]);
    let recorded = request(
        fields,
        &[values.clone(), ("input.past_observed_mask", mask)],
    );
    let series = recorded.series().unwrap();
    assert_eq!(series[1].values, Array::floats([1, 2], vec![3.0, 4.0]));
    assert_eq!(
        series[0].observed,
        Some(Array::integers([1, 2], vec![1, 0]))
    );
    let shorter = (
        "input.past_observed_mask",
        Array::floats([1, 1, 2], vec![1.0, 1.0]),
    );
    let error = request(fields, &[values, shorter]).series().unwrap_err();
    assert!(error.to_string().contains("shape"), "{error}");
}

#[test]
fn a_tensor_that_is_missing_or_of_another_type_is_named() {
    let recorded = request(
        r#"{"images": ["image.7"], "noise": "input.ids", "graphs": ["graph.0"]}"#,
        &[
            ("input.ids", Array::integers([1], vec![1])),
            ("graph.0.num_nodes", Array::integers([1], vec![-1])),
        ],
    );
    assert!(
        recorded
            .images()
            .unwrap_err()
            .to_string()
            .contains("image.7")
    );
    assert!(
        recorded
            .noise()
            .unwrap_err()
            .to_string()
            .contains("does not hold floats")
    );
    assert!(
        recorded
            .graphs()
            .unwrap_err()
            .to_string()
            .contains("num_nodes")
    );
    assert!(
        serde_json::from_str::<RequestFields>(r#"{"text": []}"#).is_err(),
        "an unknown field is an error"
    );
}

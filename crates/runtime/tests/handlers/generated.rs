//! Texts and transcriptions against those of transformers, recorded by `record_generated.py`.

use crate::support::{answer, golden, texts};
use serde_json::Value;
use testgen_runtime::{
    Audio, GenerationControls, ModelType, Task,
    task::{self, Request, Response},
};

fn expected(fixture: &str) -> Value {
    let all: Value =
        serde_json::from_str(include_str!("generated.json")).expect("the file is JSON");
    all[fixture].clone()
}

fn controls() -> GenerationControls {
    let (max_new_tokens, do_sample) = (Some(6), Some(false));
    GenerationControls {
        max_new_tokens,
        do_sample,
        num_beams: Some(1),
        ..GenerationControls::default()
    }
}

#[track_caller]
fn makes_texts(fixture: &str, model_type: ModelType) {
    let expected = expected(fixture);
    let request = Request::Prompts {
        prompts: texts(&expected["texts"]),
        controls: controls(),
    };
    let response = answer(
        fixture,
        model_type,
        Task::Text2TextGeneration,
        task::text2text_generation,
        request,
    );
    let Response::Generations(generated) = response else {
        panic!("{response:?}")
    };
    let got: Vec<String> = generated.into_iter().map(|row| row.text).collect();
    assert_eq!(got, texts(&expected["generated"]));
}

#[test]
fn t5_writes_what_transformers_writes() {
    makes_texts("t5", ModelType::T5);
}

#[test]
fn bart_writes_what_transformers_writes() {
    makes_texts("bart", ModelType::Bart);
}

#[test]
fn marian_writes_what_transformers_writes() {
    makes_texts("marian", ModelType::Marian);
}

fn recordings(fixture: &str) -> Vec<Audio> {
    let golden = golden(fixture);
    let recorded = golden.iter().filter(|(name, _)| name.starts_with("audio."));
    let samples =
        recorded.map(|(_, samples)| samples.as_floats().expect("they are floats").to_vec());
    samples
        .map(|samples| Audio {
            sampling_rate: 16_000,
            samples,
        })
        .collect()
}

#[track_caller]
fn transcriptions(
    fixture: &str,
    model_type: ModelType,
    controls: GenerationControls,
) -> Vec<task::Transcription> {
    let request = Request::Speech {
        recordings: recordings(fixture),
        controls,
    };
    let response = answer(
        fixture,
        model_type,
        Task::SpeechRecognition,
        task::speech_recognition,
        request,
    );
    let Response::Transcriptions(transcriptions) = response else {
        panic!("{response:?}")
    };
    transcriptions
}

#[test]
fn whisper_writes_the_tokens_that_transformers_writes() {
    let got = transcriptions("whisper", ModelType::Whisper, controls());
    let ids: Vec<Vec<i64>> =
        serde_json::from_value(expected("whisper")["ids"].clone()).expect("these are ids");
    assert_eq!(got.into_iter().map(|row| row.ids).collect::<Vec<_>>(), ids);
}

#[test]
fn wav2vec2_reads_off_the_text_that_transformers_reads_off() {
    let got = transcriptions(
        "wav2vec2",
        ModelType::Wav2Vec2,
        GenerationControls::default(),
    );
    let got: Vec<String> = got.into_iter().map(|row| row.text).collect();
    assert_eq!(got, texts(&expected("wav2vec2")["texts"]));
}

#[track_caller]
fn answers_questions(fixture: &str) {
    let expected = expected(fixture);
    let (prompts, controls) = (texts(&expected["questions"]), controls());
    let request = Request::Prompts { prompts, controls };
    let handler = task::retrieval_augmented_generation;
    let response = answer(
        fixture,
        ModelType::Rag,
        Task::RetrievalAugmentedGeneration,
        handler,
        request,
    );
    let Response::RetrievedAnswers(answers) = response else {
        panic!("{response:?}")
    };
    for (index, answer) in answers.iter().enumerate() {
        let expected = &expected["answers"][index];
        assert_eq!(
            answer.answer.text,
            expected["text"].as_str().expect("a text")
        );
        let ids: Vec<i64> = answer.passages.iter().map(|passage| passage.id).collect();
        assert_eq!(serde_json::json!(ids), expected["passages"]);
        for (passage, score) in answer
            .passages
            .iter()
            .zip(expected["scores"].as_array().expect("scores"))
        {
            let score = score.as_f64().expect("a score");
            assert!(
                (f64::from(passage.score) - score).abs() < 2e-5 * score.abs(),
                "{passage:?} {score}"
            );
        }
        let together: f32 = answer
            .passages
            .iter()
            .map(|passage| passage.probability)
            .sum();
        assert!((together - 1.0).abs() < 1e-6);
    }
}

#[test]
fn rag_by_token_answers_what_transformers_answers() {
    answers_questions("rag_token");
}

#[test]
fn rag_by_sequence_answers_what_transformers_answers() {
    answers_questions("rag_sequence");
}

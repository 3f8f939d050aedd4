//! Tasks of texts: vectors, masks, continuations and labels.

use crate::support::{answer, assert_array, assert_close, assert_labels, expected, texts};
use testgen_runtime::{
    GenerationControls, ModelType, Task,
    task::{self, Request, Response},
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

//! RAG: the index of passages, the cache of every passage, and the sum over passages.

use super::{write_checkpoint, write_headers};
use crate::{CallSizes, CheckpointHeaders, EstimateError, tensor::Backend};
use serde_json::{Value, json};
use std::{fs, path::Path};
use testgen_types::Precision;

/// Questions of up to 9 tokens, each read with three passages of 7 tokens.
fn config(marginal: bool) -> Value {
    json!({
        "model_type": "rag", "architectures": ["RagTokenForGeneration"], "n_docs": 3, "max_combined_length": 7,
        "do_marginalize": marginal,
        "question_encoder": {
            "model_type": "dpr", "hidden_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1,
            "intermediate_size": 2, "max_position_embeddings": 9
        },
        "generator": {
            "model_type": "bart", "d_model": 4, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 1,
            "decoder_attention_heads": 1, "encoder_ffn_dim": 4, "decoder_ffn_dim": 4, "vocab_size": 1000,
            "max_position_embeddings": 16
        }
    })
}

const PASSAGES: &str = "{\"title\": \"a\", \"text\": \"b\"}";

/// A checkpoint with two matrices, and with an index if `indexed`.
fn checkpoint(config: &Value, indexed: bool) -> CheckpointHeaders {
    let directory = tempfile::tempdir().expect("it can be made");
    write_checkpoint(directory.path(), config, &["a", "b"]);
    if indexed {
        write_index(directory.path());
    }
    CheckpointHeaders::read(directory.path()).expect("it is a checkpoint")
}

fn write_index(directory: &Path) {
    fs::write(directory.join("passages.jsonl"), PASSAGES).expect("it can be written");
    write_headers(&directory.join("passages.safetensors"), &["embeddings"]);
}

const SIZES: CallSizes = CallSizes {
    batch: 2,
    tokens: 5,
};

#[test]
fn the_index_is_kept_in_f32_and_the_texts_on_the_host() {
    let checkpoint = checkpoint(&config(true), true);
    let weights =
        |backend| [Precision::F32, Precision::Bf16].map(|it| checkpoint.weights(backend, it));
    let text = PASSAGES.len() as u64;
    assert_eq!(weights(Backend::Host), [3 * 32 + text, 2 * 16 + 32 + text]);
    // As [in, out] two rows of 4 numbers, which take 16 bytes in every type.
    assert_eq!(weights(Backend::Gpu), [3 * 32, 3 * 32]);
}

#[test]
fn the_cache_has_the_tokens_of_every_passage() {
    let checkpoint = checkpoint(&config(true), false);
    let estimate = checkpoint.estimate(Backend::Host, Precision::F32, SIZES);
    // Keys and values of decoded tokens and of those of a passage.
    let tokens = 2 * 3 * (5 + 7);
    assert_eq!(
        estimate.expect("it has an estimate").cache,
        2 * tokens * 4 * 4
    );
}

#[test]
fn a_sum_over_passages_holds_the_logits_twice() {
    let call = |marginal| {
        let checkpoint = checkpoint(&config(marginal), false);
        let estimate = checkpoint.estimate(Backend::Host, Precision::F32, SIZES);
        estimate.expect("it has an estimate").call()
    };
    let logits = 2 * 3 * 5 * 1000 * 4;
    let [single, double] = [false, true].map(call);
    assert!((logits..2 * logits).contains(&single), "{single}");
    assert!((2 * logits..3 * logits).contains(&double), "{double}");
}

#[test]
fn a_search_holds_an_order_of_the_passages_for_each_question() {
    let call = |width: u64, batch| {
        let mut config = config(false);
        config["question_encoder"]["hidden_size"] = width.into();
        // So few numbers that the search is the peak.
        config["generator"]["vocab_size"] = 1.into();
        let mut checkpoint = checkpoint(&config, true);
        checkpoint.passages[0] = 1 << 20;
        let sizes = CallSizes { batch, tokens: 1 };
        let estimate = checkpoint.estimate(Backend::Host, Precision::F32, sizes);
        estimate.expect("it has an estimate").call()
    };
    let of_one_question = |width| call(width, 3) - call(width, 2);
    // A product in f32 and a number of 64 bits for each passage.
    let more = of_one_question(2);
    assert!((12 << 20..13 << 20).contains(&more), "{more}");
    // Products are gone when the whole index is copied, which takes more if it is wide.
    let more = of_one_question(16);
    assert!((8 << 20..9 << 20).contains(&more), "{more}");
}

#[test]
fn there_are_positions_for_questions_and_for_decoded_tokens() {
    let limit = |positions: u64| {
        let mut config = config(true);
        config["generator"]["max_position_embeddings"] = positions.into();
        let sizes = CallSizes {
            tokens: 10,
            ..SIZES
        };
        match checkpoint(&config, false).estimate(Backend::Host, Precision::F32, sizes) {
            Err(EstimateError::TooLong { limit, .. }) => limit,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([limit(16), limit(8)], [9, 8]);
}

//! Faults of models with retrieval: the index, the generator's contexts, and how passages are
//! combined.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

const EMBEDDINGS: &str = "passages.safetensors";

/// Passages under the embeddings of others.
pub(crate) fn swapped_passages() {
    let fault = Fixture::new(&harnesses::rag_token::HARNESS).tensors(EMBEDDINGS, |tensors| {
        tensors.swap_rows("embeddings", 1, 2, 4)
    });
    fault.turns_red(
        Check::RetrievalGolden,
        &["`retrieval.retrieved_doc_ids` row 0, position 0: expected 4, got 2"],
    );
    fault.turns_red(Check::EmbedGolden, &["`trace.encoder.embed`"]);
}

pub(crate) fn other_separator() {
    let fault = Fixture::new(&harnesses::rag_sequence::HARNESS).configure("/doc_sep", json!(" "));
    fault.turns_red(
        Check::RetrievalGolden,
        &["`retrieval.context_input_ids` row 0"],
    );
    fault.turns_red(Check::EmbedGolden, &["`trace.encoder.embed`"]);
}

pub(crate) fn one_passage_fewer() {
    let fault = Fixture::new(&harnesses::rag_token::HARNESS).configure("/n_docs", json!(2));
    fault.turns_red(Check::OutputGolden, &["`doc_scores`", "`logits`"]);
    fault.turns_red(Check::GreedyMargin, &["tokens.logits step 0"]);
}

/// Smaller scores for the same passages: the softmax over them changes, and with it the logits of
/// all passages together.
pub(crate) fn smaller_products() {
    let fault = Fixture::new(&harnesses::rag_token::HARNESS).tensors(EMBEDDINGS, |tensors| {
        tensors.floats("embeddings", |values| {
            values.iter_mut().for_each(|value| *value *= 0.99)
        });
    });
    fault.turns_red(Check::OutputGolden, &["`doc_scores`", "`logits`"]);
    fault.stays_green(Check::LayerTraceGolden);
}

pub(crate) fn first_token_that_counts() {
    let fault = Fixture::new(&harnesses::rag_sequence::HARNESS)
        .configure("/exclude_bos_score", json!(false));
    fault.turns_red(Check::OutputGolden, &["`case.2.loss`"]);
    fault.stays_green(Check::LayerTraceGolden);
}

/// The answer of the handler. For `RagSequenceForGeneration` no other check examines it.
pub(crate) fn other_answer() {
    let fault = Fixture::new(&harnesses::rag_sequence::HARNESS)
        .golden(|tensors| tensors.integers("tokens.answer", |id| id + 1));
    fault.turns_red(Check::RetrievalGolden, &["answer 0: expected"]);
    fault.stays_green(Check::GreedyMargin);
}

pub(crate) fn swapped_heads_of_questions() {
    let name = "rag.question_encoder.question_encoder.bert_model.encoder.layer.1.attention.self.query.weight";
    let fault = Fixture::new(&harnesses::rag_token::HARNESS)
        .weights(|tensors| tensors.swap_rows(name, 4, 0, 1));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `question.layer.1`; `question.layer.0` still agrees"],
    );
}

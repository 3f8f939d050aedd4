//! The `config.json` of RAG: a question encoder, a generator, and the settings between them.

use crate::{
    config::{ModelConfig, Nested, NestedConfig},
    encoder_decoder::bart::BartConfig,
    encoder_only::bert::BertConfig,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_types::Head;

/// The whole file.
#[derive(Debug, Deserialize)]
pub(crate) struct RagConfig {
    pub(super) question_encoder: Nested<QuestionConfig>,
    pub(super) generator: Nested<GeneratorConfig>,
    pub(super) title_sep: String,
    pub(super) doc_sep: String,
    pub(super) n_docs: usize,
    pub(super) max_combined_length: usize,
    pub(super) retrieval_vector_size: usize,
    pub(super) do_marginalize: bool,
    pub(super) exclude_bos_score: bool,
    reduce_loss: bool,
    pub(super) label_smoothing: f64,
    bos_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl RagConfig {
    /// The token that `exclude_bos_score` leaves out.
    pub(super) fn bos(&self) -> Option<i64> {
        self.bos_token_id
            // As in transformers 0 counts as none.
            .filter(|id| *id != 0)
            .or(self.generator.bos_token_id)
    }
}

impl ModelConfig for RagConfig {
    /// The location of the index, which is next to the weights here; the outputs of a call; fields
    /// that the generator says itself. `do_deduplication` is read where answers are made.
    const INERT: &'static [&'static str] = &[
        "dataset",
        "dataset_revision",
        "dataset_split",
        "do_deduplication",
        "index_name",
        "index_path",
        "is_encoder_decoder",
        "output_retrieved",
        "passages_path",
        "retrieval_batch_size",
        "tie_word_embeddings",
        "use_dummy_dataset",
        "vocab_size",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn nested(&self) -> Vec<(&'static str, &dyn NestedConfig)> {
        vec![
            ("question_encoder", &self.question_encoder),
            ("generator", &self.generator),
        ]
    }

    fn validate(&self) -> Result<(), String> {
        if self.reduce_loss {
            return Err(
                "`reduce_loss` true is not supported: `loss` has one value for each row".to_owned(),
            );
        }
        if self.n_docs == 0 {
            return Err("`n_docs` is 0; at least one passage is read".to_owned());
        }
        let (length, limit) = (
            self.max_combined_length,
            self.generator.bart.max_position_embeddings,
        );
        // Contexts are filled up to this length, and the generator has positions for no more.
        if length > limit {
            return Err(format!(
                "`max_combined_length` {length} is above `generator.max_position_embeddings` {limit}"
            ));
        }
        Ok(())
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![
            (
                "generator.decoder_start_token_id",
                "the decoder's input is always given",
            ),
            ("generator.eos_token_id", "only classification looks for it"),
            (
                "question_encoder.tie_word_embeddings",
                "there is no decoder to tie",
            ),
        ];
        if head == Head::TokenGeneration {
            let reason = "only the loss of whole sequences can leave out its first token";
            fields.extend(
                [
                    "bos_token_id",
                    "exclude_bos_score",
                    "generator.bos_token_id",
                ]
                .map(|name| (name, reason)),
            );
            return fields;
        }
        fields.push((
            "do_marginalize",
            "only `RagTokenForGeneration` marginalises its logits",
        ));
        if !self.exclude_bos_score {
            let reason = "only `exclude_bos_score` looks for it";
            fields.extend(["bos_token_id", "generator.bos_token_id"].map(|name| (name, reason)));
        } else if self.bos_token_id.is_some_and(|id| id != 0) {
            fields.push(("generator.bos_token_id", "`bos_token_id` overrules it"));
        }
        fields
    }
}

/// `question_encoder`: a DPR encoder, which is a BERT without a pooler.
#[derive(Debug, Deserialize)]
pub(crate) struct QuestionConfig {
    pub(super) projection_dim: usize,
    model_type: String,
    pub(super) pad_token_id: i64,
    #[serde(flatten)]
    pub(super) bert: BertConfig,
}

/// `generator`: a BART.
#[derive(Debug, Deserialize)]
pub(crate) struct GeneratorConfig {
    model_type: String,
    /// Before every text that the generator reads.
    pub(super) prefix: Option<String>,
    pub(super) pad_token_id: i64,
    bos_token_id: Option<i64>,
    #[serde(flatten)]
    pub(super) bart: BartConfig,
}

impl ModelConfig for QuestionConfig {
    const NESTED_TYPE: &'static str = "dpr";
    const INERT: &'static [&'static str] = BertConfig::INERT;

    fn rest(&self) -> &Map<String, Value> {
        self.bert.rest()
    }

    fn validate(&self) -> Result<(), String> {
        of_type(&self.model_type, "dpr", "question_encoder")?;
        self.bert.validate()
    }
}

impl ModelConfig for GeneratorConfig {
    const NESTED_TYPE: &'static str = "bart";
    const INERT: &'static [&'static str] = BartConfig::INERT;

    fn rest(&self) -> &Map<String, Value> {
        self.bart.rest()
    }

    fn validate(&self) -> Result<(), String> {
        of_type(&self.model_type, "bart", "generator")?;
        self.bart.validate()
    }
}

fn of_type(found: &str, supported: &str, field: &str) -> Result<(), String> {
    if found == supported {
        return Ok(());
    }
    Err(format!(
        "`{field}.model_type` {found:?} is not supported, only {supported:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use serde_json::json;

    fn refused(fields: Value) -> String {
        parse::<RagConfig>("rag", &fields)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_file_may_say_nothing() {
        let config = parse::<RagConfig>("rag", &json!({}))
            .expect("all fields have defaults")
            .config;
        assert_eq!(
            (config.n_docs, config.max_combined_length, config.bos()),
            (5, 300, Some(0))
        );
        assert_eq!(
            (
                config.question_encoder.projection_dim,
                config.generator.pad_token_id
            ),
            (0, 1)
        );
    }

    /// Fields of `facebook/rag-token-nq` beyond sizes.
    #[test]
    fn released_files_are_read() {
        let generator = json!({
            "model_type": "bart", "prefix": " ", "num_beams": 4, "no_repeat_ngram_size": 3, "normalize_before": false,
            "normalize_embedding": true, "add_bias_logits": false, "extra_pos_embeddings": 2, "classif_dropout": 0.0,
        });
        let question = json!({ "model_type": "dpr", "gradient_checkpointing": false, "is_decoder": false, "top_k": 50 });
        let config = json!({
            "model_type": "rag", "question_encoder": question, "generator": generator, "index_name": "exact",
            "dataset": "wiki_dpr", "forced_eos_token_id": 2, "output_retrieved": false, "vocab_size": null,
        });
        let parsed = parse::<RagConfig>("rag", &config).expect("it is supported");
        assert_eq!(parsed.config.generator.prefix.as_deref(), Some(" "));
        assert!(parsed.fields.contains(&"generator.prefix".to_owned()));
    }

    #[test]
    fn what_changes_numbers_and_is_not_here_is_refused() {
        assert!(
            refused(json!({ "generator": { "model_type": "t5" } }))
                .contains("\"t5\" is not supported")
        );
        assert!(
            refused(json!({ "question_encoder": { "is_decoder": true } }))
                .contains("`question_encoder.is_decoder`")
        );
        assert!(refused(json!({ "reduce_loss": true })).contains("`reduce_loss`"));
        assert!(refused(json!({ "max_combined_length": 2000 })).contains("above"));
        assert!(refused(json!({ "n_docs": 0 })).contains("`n_docs`"));
        assert!(refused(json!({ "another": 1 })).contains("`another`"));
    }
}

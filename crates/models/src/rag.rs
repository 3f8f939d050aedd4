//! RAG (Lewis et al. 2020): `transformers.models.rag`, with the question encoder of
//! `transformers.models.dpr`.
//!
//! A question is encoded, the generator reads it with each of the nearest passages, and its results
//! are combined. A call without `context_input_ids` searches for passages itself; one without
//! `decoder_input_ids` and `labels` only searches.

mod config;
mod marginal;
mod nearest_neighbours;
mod passage_index;
mod query_encoder;

use crate::{
    capabilities::Capabilities,
    encoder_decoder::bart::Generator,
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    text::encoder_decoder::{SourceEncoder, TargetDecoder},
};
use burn_tensor::{DType, Tensor};
use config::RagConfig;
#[cfg(test)]
pub(crate) use config::{GeneratorConfig, QuestionConfig};
use marginal::{LossTarget, PassageEvidence};
use passage_index::{PassageIndex, lacking};
use query_encoder::QueryEncoder;
use testgen_nn::{
    array::{Array, Arrays},
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::{Inputs, put_floats},
    weights::Weights,
};
use testgen_types::Head;

/// `model_type` `rag`.
pub(crate) struct Rag;

impl ModelDef for Rag {
    type Config = RagConfig;

    fn load<B: Ops>(config: &RagConfig, head: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let base = w.strip_prefix("rag");
        let generator = Generator::load(&config.generator.bart, &base.module("generator"))?;
        let questions =
            QueryEncoder::load(&config.question_encoder, &base.module("question_encoder"))?;
        let passages = PassageIndex::open(config, w)?;
        let settings = RagSettings {
            by_token: head == Head::TokenGeneration,
            marginalize: config.do_marginalize,
            exclude_bos: config.exclude_bos_score,
            bos: config.bos(),
            pad: config.generator.pad_token_id,
            label_smoothing: config.label_smoothing,
        };
        Ok(Box::new(RagNetwork {
            questions,
            passages,
            generator,
            settings,
        }))
    }
}

/// The three parts and what the configuration says of the sum.
struct RagNetwork<B: Ops> {
    questions: QueryEncoder<B>,
    /// None if the checkpoint has no passages; then the caller passes them.
    passages: Option<PassageIndex<B>>,
    generator: Generator<B>,
    settings: RagSettings,
}

struct RagSettings {
    /// Whether each token, rather than the whole text, may come from another passage.
    by_token: bool,
    marginalize: bool,
    exclude_bos: bool,
    bos: Option<i64>,
    pad: i64,
    label_smoothing: f64,
}

const MARGINALIZE: &str = "do_marginalize";
const EXCLUDE_BOS: &str = "exclude_bos_score";
const SCORES: &str = "doc_scores";
const TARGET: &str = "decoder_input_ids";
const LABELS: &str = "labels";

impl<B: Ops> Network<B> for RagNetwork<B> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let found = match context.kept() {
            // A later step of a session reads the passages that the first one found.
            Some(kept) => kept.clone(),
            None => self.find(inputs, context)?,
        };
        let Some(target) = inputs.host(TARGET).or_else(|| inputs.host(LABELS)) else {
            return Ok(());
        };
        let logits = self.read(&found, target, inputs, context)?;
        // A later step has its own tokens only, and a loss is about a whole text.
        if let (Some(labels), true) = (inputs.host(LABELS), context.past() == 0) {
            let loss = self.loss(logits.clone(), labels, target, &found, inputs)?;
            context.output("loss", loss)?;
        }
        let marginal = self.settings.by_token
            && flag(&found, MARGINALIZE).unwrap_or(self.settings.marginalize);
        context.output(
            "logits",
            if marginal {
                self.marginal(logits, &found, inputs)?
            } else {
                logits
            },
        )?;
        context.keep(found);
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        let positions = [
            self.questions.max_positions(),
            self.generator.decoder.max_positions(),
        ];
        Capabilities {
            token_input_name: TARGET,
            max_positions: positions.into_iter().flatten().min(),
            ..Capabilities::decoder(self.generator.decoder.layers())
        }
    }
}

impl<B: Ops> RagNetwork<B> {
    /// `input_ids` and `attention_mask` of the texts that the generator reads, `doc_scores` where
    /// there are some, and `do_marginalize` if the caller asks for it.
    fn find(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Arrays, ForwardError> {
        let mut found = match inputs.host("context_input_ids") {
            Some(contexts) => given(contexts, inputs),
            None => {
                let questions = self.questions.encode(inputs, context)?;
                let passages = self.passages.as_ref().ok_or(ForwardError::MissingInput {
                    name: "context_input_ids",
                })?;
                passages.find(questions, inputs, context)?
            }
        };
        let asked = inputs
            .host(MARGINALIZE)
            .map(|asked| (MARGINALIZE.to_owned(), asked.clone()));
        found.extend(asked);
        Ok(found)
    }

    /// The generator's logits [batch * docs, seq, vocab]: every row of `target` with each of its
    /// passages.
    fn read(
        &self,
        found: &Arrays,
        target: &Array,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let mut arrays = found.clone();
        let contexts = found
            .get("attention_mask")
            .map_or(0, |mask| mask.shape()[0]);
        arrays.insert(TARGET.to_owned(), repeated(target, contexts)?);
        if let Some(mask) = inputs.host("decoder_attention_mask") {
            arrays.insert(
                "decoder_attention_mask".to_owned(),
                repeated(mask, contexts)?,
            );
        }
        let inner = inputs.with(&arrays);
        let encoded = match context.past() {
            0 => {
                context.enter("encoder.");
                Some(self.generator.encoder.encode(&inner, context)?)
            }
            // Cross-attention has its keys and values from the first step.
            _ => None,
        };
        context.enter("decoder.");
        let hidden = self
            .generator
            .decoder
            .decode(encoded.as_ref(), &inner, context)?;
        encoded.map_or(Ok(()), |encoded| {
            context.output("generator_enc_last_hidden_state", encoded)
        })?;
        Ok(self.generator.lm_head.forward(hidden))
    }

    fn evidence(
        &self,
        logits: Tensor<B, 3>,
        found: &Arrays,
        inputs: &Inputs<'_, B>,
    ) -> Result<PassageEvidence<B>, ForwardError> {
        let scores = found
            .get(SCORES)
            .ok_or(ForwardError::MissingInput { name: SCORES })?;
        let wrong = || {
            lacking(
                SCORES,
                scores,
                "floats [batch, docs], a row for each row of the decoder",
            )
        };
        let (&[batch, docs], Some(values)) = (scores.shape(), scores.as_floats()) else {
            return Err(wrong());
        };
        if batch * docs != logits.dims()[0] {
            return Err(wrong());
        }
        let scores = put_floats(values.to_vec(), [batch, docs], inputs.device(), DType::F32);
        Ok(PassageEvidence::new(logits, scores))
    }

    /// [batch, seq, vocab].
    fn marginal(
        &self,
        logits: Tensor<B, 3>,
        found: &Arrays,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        Ok(self
            .evidence(logits, found, inputs)?
            .by_token()
            .cast(inputs.dtype))
    }

    /// [batch].
    fn loss(
        &self,
        logits: Tensor<B, 3>,
        labels: &Array,
        target: &Array,
        found: &Arrays,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 1>, ForwardError> {
        let RagSettings {
            by_token,
            pad,
            label_smoothing,
            ..
        } = self.settings;
        // The loss of sequences is about what the decoder read, as in transformers.
        let ids = if by_token {
            if labels.shape() != target.shape() {
                let expected = "integers of the shape of `decoder_input_ids`";
                return Err(lacking(LABELS, labels, expected));
            }
            // A kernel on a GPU would read past the vocabulary without an error.
            inputs.optional_indices(LABELS, logits.dims()[2])?;
            labels
        } else {
            target
        };
        let ids = ids
            .as_integers()
            .ok_or_else(|| lacking(LABELS, ids, "integers [batch, seq]"))?;
        let exclude = inputs
            .host(EXCLUDE_BOS)
            .map_or(self.settings.exclude_bos, truth);
        let excluded = self.settings.bos.filter(|_| exclude);
        let target = LossTarget {
            ids,
            pad,
            label_smoothing,
            excluded,
        };
        let evidence = self.evidence(logits, found, inputs)?;
        let loss = if by_token {
            evidence.loss_by_token(&target)
        } else {
            evidence.loss_by_sequence(&target)
        };
        Ok(loss.cast(inputs.dtype))
    }
}

/// The retrieved passages that the caller passes.
fn given<B: Ops>(contexts: &Array, inputs: &Inputs<'_, B>) -> Arrays {
    let named = |from: &str, to: &str| Some((to.to_owned(), inputs.host(from)?.clone()));
    // Without a mask transformers shows the generator every token.
    let ones = Array::integers(contexts.shape(), vec![1; contexts.values().len()]);
    let mut found = Arrays::from([
        ("input_ids".to_owned(), contexts.clone()),
        ("attention_mask".to_owned(), ones),
    ]);
    found.extend(
        named("context_attention_mask", "attention_mask")
            .into_iter()
            .chain(named(SCORES, SCORES)),
    );
    found
}

/// Each row as often as it takes to have `rows`.
fn repeated(array: &Array, rows: usize) -> Result<Array, ForwardError> {
    let own = array.shape().first().copied().unwrap_or(0);
    if own == 0 || rows == 0 || !rows.is_multiple_of(own) {
        return Err(lacking(
            TARGET,
            array,
            "rows that share the contexts evenly",
        ));
    }
    let times = rows / own;
    Ok(array.select_rows(&(0..rows).map(|row| row / times).collect::<Vec<_>>()))
}

fn flag(arrays: &Arrays, name: &str) -> Option<bool> {
    arrays.get(name).map(truth)
}

/// An argument that is true or false, as integers.
fn truth(array: &Array) -> bool {
    array
        .as_integers()
        .is_some_and(|values| values.first() == Some(&1))
}

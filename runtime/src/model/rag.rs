//! RAG (Lewis et al. 2020): `transformers.models.rag`, with the question encoder of `transformers.models.dpr`.
//!
//! A question is encoded, the passages nearest to it are read with it by a generator, and what these say is put together. A
//! call without `context_input_ids` finds the passages itself; one without `decoder_input_ids` and `labels` only finds them.

mod config;
mod index;
mod library;
mod marginal;
mod questions;

use super::{
    bart::Generator,
    class::Head,
    encoder_decoder::{Decoder, Encoder},
    family::{Family, Loaded},
    forward::ForwardError,
    network::{Inputs, Network, Pass, put_floats},
};
use crate::{Array, Arrays, backend::Ops, weights::Weights};
use burn::tensor::{DType, Tensor};
use config::RagConfig;
pub(crate) use library::EMBEDDINGS;
use library::{Library, lacking};
use marginal::{Evidence, Target};
use questions::QuestionEncoder;

/// `model_type` `rag`.
pub(crate) struct Rag;

impl Family for Rag {
    type Config = RagConfig;
    const NAME: &'static str = "Rag";
    const HEADS: &'static [Head] = &[Head::TokenGeneration, Head::SequenceGeneration];

    fn load<B: Ops>(config: &RagConfig, head: Head, _: usize, w: &Weights<B>) -> Loaded<B> {
        let base = w.base("rag");
        let generator = Generator::load(&config.generator.bart, &base.module("generator"))?;
        let questions = QuestionEncoder::load(&config.question_encoder, &base.module("question_encoder"))?;
        let library = Library::open(config, w)?;
        let settings = Settings {
            by_token: head == Head::TokenGeneration,
            marginalize: config.do_marginalize,
            exclude_bos: config.exclude_bos_score,
            bos: config.bos(),
            pad: config.generator.pad_token_id,
            label_smoothing: config.label_smoothing,
        };
        Ok(Box::new(RagNetwork { questions, library, generator, settings }))
    }
}

/// The three parts and what the configuration says of the sum.
struct RagNetwork<B: Ops> {
    questions: QuestionEncoder<B>,
    /// None where the checkpoint has no passages: a caller gives them.
    library: Option<Library<B>>,
    generator: Generator<B>,
    settings: Settings,
}

struct Settings {
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
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let found = match pass.kept() {
            Some(kept) => kept.clone(),
            None => self.find(inputs, pass)?,
        };
        let Some(target) = inputs.host(TARGET).or_else(|| inputs.host(LABELS)) else { return Ok(()) };
        let logits = self.read(&found, target, inputs, pass)?;
        if let (Some(labels), true) = (inputs.host(LABELS), pass.past() == 0) {
            let loss = self.loss(logits.clone(), labels, target, &found, inputs)?;
            pass.output("loss", loss)?;
        }
        let marginal = self.settings.by_token && flag(&found, MARGINALIZE).unwrap_or(self.settings.marginalize);
        pass.output("logits", if marginal { self.marginal(logits, &found, inputs)? } else { logits })?;
        pass.keep(found);
        Ok(())
    }

    fn growing_input(&self) -> &'static str {
        TARGET
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.generator.decoder.layers())
    }

    fn max_positions(&self) -> Option<usize> {
        self.questions.max_positions().into_iter().chain(self.generator.decoder.max_positions()).min()
    }
}

impl<B: Ops> RagNetwork<B> {
    /// `input_ids` and `attention_mask` of the texts that the generator reads, `doc_scores` where there are some, and
    /// `do_marginalize` where it is asked for.
    fn find(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Arrays, ForwardError> {
        let mut found = match inputs.host("context_input_ids") {
            Some(contexts) => given(contexts, inputs),
            None => {
                let questions = self.questions.encode(inputs, pass)?;
                let library = self.library.as_ref().ok_or(ForwardError::MissingInput { name: "context_input_ids" })?;
                library.find(questions, inputs, pass)?
            }
        };
        let asked = inputs.host(MARGINALIZE).map(|asked| (MARGINALIZE.to_owned(), asked.clone()));
        found.extend(asked);
        Ok(found)
    }

    /// The generator's logits [batch * docs, seq, vocab]: every row of `target` with each of its passages.
    fn read(
        &self,
        found: &Arrays,
        target: &Array,
        inputs: &Inputs<'_, B>,
        pass: &mut Pass<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let mut arrays = found.clone();
        let contexts = found.get("attention_mask").map_or(0, |mask| mask.shape()[0]);
        arrays.insert(TARGET.to_owned(), repeated(target, contexts)?);
        if let Some(mask) = inputs.host("decoder_attention_mask") {
            arrays.insert("decoder_attention_mask".to_owned(), repeated(mask, contexts)?);
        }
        let inner = inputs.with(&arrays);
        let memory = match pass.past() {
            0 => {
                pass.enter("encoder.");
                Some(self.generator.encoder.encode(&inner, pass)?)
            }
            _ => None,
        };
        pass.enter("decoder.");
        let hidden = self.generator.decoder.decode(memory.as_ref(), &inner, pass)?;
        memory.map_or(Ok(()), |memory| pass.output("generator_enc_last_hidden_state", memory))?;
        Ok(self.generator.lm_head.forward(hidden))
    }

    fn evidence(
        &self,
        logits: Tensor<B, 3>,
        found: &Arrays,
        inputs: &Inputs<'_, B>,
    ) -> Result<Evidence<B>, ForwardError> {
        let scores = found.get(SCORES).ok_or(ForwardError::MissingInput { name: SCORES })?;
        let wrong = || lacking(SCORES, scores, "floats [batch, docs], a row for each row of the decoder");
        let (&[batch, docs], Some(values)) = (scores.shape(), scores.as_floats()) else { return Err(wrong()) };
        if batch * docs != logits.dims()[0] {
            return Err(wrong());
        }
        let scores = put_floats(values.to_vec(), [batch, docs], inputs.device(), DType::F32);
        Ok(Evidence::new(logits, scores))
    }

    /// [batch, seq, vocab].
    fn marginal(
        &self,
        logits: Tensor<B, 3>,
        found: &Arrays,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        Ok(self.evidence(logits, found, inputs)?.by_token().cast(inputs.dtype))
    }

    /// [batch]. That of sequences is about what the decoder read, as in transformers.
    fn loss(
        &self,
        logits: Tensor<B, 3>,
        labels: &Array,
        target: &Array,
        found: &Arrays,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 1>, ForwardError> {
        let Settings { by_token, pad, label_smoothing, .. } = self.settings;
        let ids = if by_token { labels } else { target };
        let ids = ids.as_integers().ok_or_else(|| lacking(LABELS, ids, "integers [batch, seq]"))?;
        let exclude = inputs.host(EXCLUDE_BOS).map_or(self.settings.exclude_bos, truth);
        let excluded = self.settings.bos.filter(|_| exclude);
        let target = Target { ids, pad, label_smoothing, excluded };
        let evidence = self.evidence(logits, found, inputs)?;
        let loss = if by_token { evidence.loss_by_token(&target) } else { evidence.loss_by_sequence(&target) };
        Ok(loss.cast(inputs.dtype))
    }
}

/// What a caller found.
fn given<B: Ops>(contexts: &Array, inputs: &Inputs<'_, B>) -> Arrays {
    let named = |from: &str, to: &str| Some((to.to_owned(), inputs.host(from)?.clone()));
    let ones = Array::integers(contexts.shape(), vec![1; contexts.values().len()]);
    let mut found = Arrays::from([("input_ids".to_owned(), contexts.clone()), ("attention_mask".to_owned(), ones)]);
    found.extend(named("context_attention_mask", "attention_mask").into_iter().chain(named(SCORES, SCORES)));
    found
}

/// Each row as often as it takes to have `rows`.
fn repeated(array: &Array, rows: usize) -> Result<Array, ForwardError> {
    let own = array.shape().first().copied().unwrap_or(0);
    if own == 0 || rows == 0 || !rows.is_multiple_of(own) {
        return Err(lacking(TARGET, array, "rows that share the contexts evenly"));
    }
    let times = rows / own;
    Ok(array.select_rows(&(0..rows).map(|row| row / times).collect::<Vec<_>>()))
}

fn flag(arrays: &Arrays, name: &str) -> Option<bool> {
    arrays.get(name).map(truth)
}

/// An argument that is true or false, as integers.
fn truth(array: &Array) -> bool {
    array.as_integers().is_some_and(|values| values.first() == Some(&1))
}

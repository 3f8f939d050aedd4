//! The decoder that Llama made common: root-mean-square norms, rotary positions, grouped heads and
//! a gated MLP. Types that differ from it by configuration give it their [`LlamaShape`].

use super::{
    causal_decoder::{CausalDecoder, FinalNorm},
    llama_layer::LlamaLayer,
    llama_shape::{LlamaFields, LlamaShape},
    text_head::TextHead,
    token_embeddings::TokenEmbeddings,
};
use crate::model_def::LoadedNetwork;
use testgen_nn::{
    backend::Ops,
    layer::{Linear, Positions, RmsNorm, Rotary},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

impl LlamaShape {
    pub(crate) fn load<B: Ops>(
        &self,
        fields: &LlamaFields,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        // transformers keeps the base model of question answering under another name.
        let backbone =
            self.load_decoder(fields, &w.strip_prefix("model").strip_prefix("transformer"))?;
        let head = match head {
            Head::TokenClassification => {
                // `GenericForTokenClassification` has another name for it than the classes of older
                // decoders.
                TextHead::PerToken(Linear::load(
                    &w.module("score"),
                    fields.hidden_size,
                    labels,
                )?)
            }
            head => backbone.standard_head(
                w,
                head,
                labels,
                fields.tie_word_embeddings,
                fields.pad_token_id,
            )?,
        };
        Ok(backbone.with_head(head))
    }

    pub(crate) fn load_decoder<B: Ops>(
        &self,
        fields: &LlamaFields,
        w: &Weights<B>,
    ) -> Result<LlamaDecoder<B>, WeightsError> {
        let (width, trained) = (fields.hidden_size, fields.max_position_embeddings);
        Ok(CausalDecoder {
            embeddings: TokenEmbeddings::load(w, fields.vocab_size, width, self.embedding_scale)?,
            positions: Positions::Rotary(Rotary::new(&self.rope, self.head_dim, trained)),
            // One window for each layer, so that their number is the number of layers.
            layers: LayerStack::load(&w.module("layers"), self.windows.len(), {
                // Copies, because a streamed stack loads its layers anew in every call.
                let (fields, shape) = (fields.clone(), self.clone());
                move |index, w| LlamaLayer::load(&fields, &shape, index, w)
            })?,
            final_norm: FinalNorm::RmsNorm(self.norm(fields, &w.module("norm"))?),
        })
    }

    /// A norm of hidden states.
    pub(super) fn norm<B: Ops>(
        &self,
        fields: &LlamaFields,
        w: &Weights<B>,
    ) -> Result<RmsNorm<B>, WeightsError> {
        let load = if self.unit_offset {
            RmsNorm::load_unit_offset
        } else {
            RmsNorm::load
        };
        load(w, fields.hidden_size, fields.rms_norm_eps)
    }
}

/// Llama's decoder without its head.
pub(crate) type LlamaDecoder<B> = CausalDecoder<B, TokenEmbeddings<B>, LlamaLayer<B>>;

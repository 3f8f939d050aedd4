//! The common part of Mamba and Mamba-2: embeddings, blocks of a norm and a mixer, a head. The
//! mixer is the type's own.

use crate::{
    capabilities::Capabilities,
    model_def::LoadedNetwork,
    text::{
        backbone::{Backbone, Hidden},
        text_head::TextHead,
        text_model::TextModel,
    },
};
use burn_tensor::{DType, Tensor};
use serde::Deserialize;
use testgen_nn::{
    backend::{Activation, Ops},
    context::{ForwardContext, LayerSlot},
    forward::ForwardError,
    inputs::Inputs,
    layer::{Embedding, RmsNorm, visible_tokens},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The fields of `config.json` that both types have, with the defaults of Mamba.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StateFields {
    vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) state_size: usize,
    num_hidden_layers: usize,
    pub(crate) layer_norm_epsilon: f64,
    expand: f64,
    pub(crate) conv_kernel: usize,
    pub(crate) use_bias: bool,
    pub(crate) use_conv_bias: bool,
    pub(crate) hidden_act: Activation,
    /// Whether what goes around the mixers stays f32 in every precision.
    residual_in_fp32: bool,
    tie_word_embeddings: bool,
}

impl StateFields {
    /// The width of what is scanned.
    pub(crate) fn inner(&self) -> usize {
        // Cut off like Python's `int`: `expand` may be a fraction.
        (self.expand * self.hidden_size as f64) as usize
    }

    /// See [`Config::inert_fields`](crate::config::ModelConfig::inert_fields).
    pub(crate) fn inert_fields(head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![("residual_in_fp32", "it says where to round")];
        if head != Head::CausalLm {
            fields.push((
                "tie_word_embeddings",
                "only language models have a decoder to tie",
            ));
        }
        fields
    }

    /// `mixer` loads the mixer of a layer.
    pub(crate) fn load<B: Ops, M: Mixer<B> + 'static>(
        &self,
        head: Head,
        w: &Weights<B>,
        mixer: impl Fn(&Weights<B>) -> Result<M, WeightsError> + Send + 'static,
    ) -> LoadedNetwork<B> {
        let backbone = self.backbone(&w.strip_prefix("backbone"), mixer)?;
        let tied = self
            .tie_word_embeddings
            .then(|| backbone.embeddings.weight());
        let head =
            // No labels: neither type has a class that classifies.
            TextHead::of_decoder(w, head, [self.hidden_size, self.vocab_size, 0], tied, None)?;
        Ok(Box::new(TextModel { backbone, head }))
    }

    fn backbone<B: Ops, M: Mixer<B> + 'static>(
        &self,
        w: &Weights<B>,
        mixer: impl Fn(&Weights<B>) -> Result<M, WeightsError> + Send + 'static,
    ) -> Result<StateStack<B, M>, WeightsError> {
        // The original releases have the second name.
        let embeddings = w.module_named(&["embeddings", "embedding"]);
        Ok(StateStack {
            embeddings: Embedding::load(&embeddings, self.vocab_size, self.hidden_size)?,
            layers: LayerStack::load(&w.module("layers"), self.num_hidden_layers, {
                let (width, eps) = (self.hidden_size, self.layer_norm_epsilon);
                move |_, w| {
                    Ok(StateLayer {
                        norm: RmsNorm::load(&w.module("norm"), width, eps)?,
                        mixer: mixer(&w.module("mixer"))?,
                    })
                }
            })?,
            norm_f: RmsNorm::load(
                &w.module("norm_f"),
                self.hidden_size,
                self.layer_norm_epsilon,
            )?,
            residual_in_fp32: self.residual_in_fp32,
            vocab: self.vocab_size,
        })
    }
}

/// The block between two norms.
pub(crate) trait Mixer<B: Ops>: Send {
    /// [batch, seq, width]; `visible` [batch, seq, 1] is 0 for padding, and `None` if no token is
    /// padding.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        visible: Option<Tensor<B, 3>>,
        slot: LayerSlot<'_, '_, B>,
    ) -> Tensor<B, 3>;
}

struct StateStack<B: Ops, M> {
    embeddings: Embedding<B>,
    layers: LayerStack<B, StateLayer<B, M>>,
    norm_f: RmsNorm<B>,
    residual_in_fp32: bool,
    vocab: usize,
}

struct StateLayer<B: Ops, M> {
    norm: RmsNorm<B>,
    mixer: M,
}

impl<B: Ops, M: Mixer<B>> Backbone<B> for StateStack<B, M> {
    fn hidden(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let visible = visible_tokens(inputs, ids.dims(), context.past())?;
        let x = self.embeddings.forward(ids);
        context.trace_embed(&x)?;
        // What goes around the mixers keeps its own type; layers and traces have the model's.
        let dtype = x.dtype();
        let sum = if self.residual_in_fp32 {
            x.clone().cast(DType::F32)
        } else {
            x.clone()
        };
        let last = self.layers.run(
            context,
            x,
            &mut (sum, visible),
            |layer, x, (sum, visible), slot| {
                let mixed = layer
                    .mixer
                    .forward(layer.norm.forward(x), visible.clone(), slot);
                *sum = sum.clone() + mixed.cast(sum.dtype());
                Ok(sum.clone().cast(dtype))
            },
            |x| self.norm_f.forward(x),
        )?;
        Ok(Hidden { last, pooled: None })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::decoder(self.layers.depth())
    }
}

/// Padding set to zero.
pub(crate) fn without_padding<B: Ops>(
    x: Tensor<B, 3>,
    visible: &Option<Tensor<B, 3>>,
) -> Tensor<B, 3> {
    match visible {
        Some(visible) => x * visible.clone(),
        None => x,
    }
}

//! What Mamba and Mamba-2 have in common: embeddings, blocks of a norm and a mixer, a head. The mixer is the type's own.

use super::{
    class::Head,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::TextHead,
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::Ops,
    layer::{Embedding, RmsNorm, visible_tokens},
    weights::{Weights, WeightsError},
};
use burn::tensor::{DType, Tensor};

/// The heads of both types.
pub(crate) const STATE_HEADS: &[Head] = &[Head::Base, Head::CausalLm];

/// The sizes that do not depend on the mixer.
pub(crate) struct StateShape {
    pub(crate) vocab: usize,
    pub(crate) width: usize,
    pub(crate) layers: usize,
    pub(crate) eps: f64,
    /// Whether what goes around the mixers stays f32 in every precision.
    pub(crate) residual_in_fp32: bool,
    pub(crate) tied: bool,
}

/// What stands between two norms.
pub(crate) trait Mixer<B: Ops>: Send {
    /// [batch, seq, width]; `visible` [batch, seq, 1] is 0 where a token is padding, none where no token is.
    fn forward(&self, x: Tensor<B, 3>, visible: Option<Tensor<B, 3>>, place: (usize, &mut Pass<'_, B>))
    -> Tensor<B, 3>;
}

impl StateShape {
    /// `mixer` loads the mixer of a layer.
    pub(crate) fn load<B: Ops, M: Mixer<B> + 'static>(
        &self,
        head: Head,
        w: &Weights<B>,
        mixer: impl Fn(&Weights<B>) -> Result<M, WeightsError>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = self.backbone(&w.base("backbone"), mixer)?;
        let tied = self.tied.then(|| backbone.embeddings.weight());
        let head = TextHead::of_decoder(w, head, [self.width, self.vocab, 0], tied, None)?;
        Ok(Box::new(TextModel { backbone, head }))
    }

    fn backbone<B: Ops, M: Mixer<B>>(
        &self,
        w: &Weights<B>,
        mixer: impl Fn(&Weights<B>) -> Result<M, WeightsError>,
    ) -> Result<States<B, M>, WeightsError> {
        let layer = |index: usize| {
            let w = w.module("layers").module(index);
            Ok(Layer {
                norm: RmsNorm::load(&w.module("norm"), self.width, self.eps)?,
                mixer: mixer(&w.module("mixer"))?,
            })
        };
        let embeddings = w.module_named(&["embeddings", "embedding"]);
        Ok(States {
            embeddings: Embedding::load(&embeddings, self.vocab, self.width)?,
            layers: (0..self.layers).map(layer).collect::<Result<_, WeightsError>>()?,
            norm_f: RmsNorm::load(&w.module("norm_f"), self.width, self.eps)?,
            residual_in_fp32: self.residual_in_fp32,
            vocab: self.vocab,
        })
    }
}

struct States<B: Ops, M> {
    embeddings: Embedding<B>,
    layers: Vec<Layer<B, M>>,
    norm_f: RmsNorm<B>,
    residual_in_fp32: bool,
    vocab: usize,
}

struct Layer<B: Ops, M> {
    norm: RmsNorm<B>,
    mixer: M,
}

impl<B: Ops, M: Mixer<B>> Backbone<B> for States<B, M> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let visible = visible_tokens(inputs, ids.dims(), pass.past())?;
        let x = self.embeddings.forward(ids);
        pass.trace_embed(&x)?;
        // What goes around the mixers keeps its own type; layers and traces have the model's.
        let dtype = x.dtype();
        let mut sum = if self.residual_in_fp32 { x.clone().cast(DType::F32) } else { x.clone() };
        let step = |layer: &Layer<B, M>, x: Tensor<B, 3>, place: (usize, &mut Pass<'_, B>)| {
            let mixed = layer.mixer.forward(layer.norm.forward(x), visible.clone(), place);
            sum = sum.clone() + mixed.cast(sum.dtype());
            Ok(sum.clone().cast(dtype))
        };
        let last = pass.through(&self.layers, x, step, |x| self.norm_f.forward(x))?;
        Ok(Hidden { last, pooled: None })
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn max_positions(&self) -> Option<usize> {
        None
    }
}

/// Padding set to zero.
pub(crate) fn without_padding<B: Ops>(x: Tensor<B, 3>, visible: &Option<Tensor<B, 3>>) -> Tensor<B, 3> {
    match visible {
        Some(visible) => x * visible.clone(),
        None => x,
    }
}

//! Graphormer (Ying et al. 2021): `transformers.models.deprecated.graphormer`, which is in
//! transformers up to 4.57.

mod arguments;
mod bias;
mod config;
mod encoder;

use crate::{load_error::LoadError, model_def::ModelDef, network::Network};
use burn_tensor::Tensor;
use config::{GraphormerConfig, LAYER_NORM_EPS};
use encoder::GraphEncoder;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{LayerNorm, Linear},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// `model_type` `graphormer`.
pub(crate) struct Graphormer;

impl ModelDef for Graphormer {
    type Config = GraphormerConfig;

    fn load<B: Ops>(
        config: &GraphormerConfig,
        head: Head,
        _: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        // The classifier calls its base model `encoder`, which is not `base_model_prefix`.
        let base = if head == Head::Base {
            w.module("")
        } else {
            w.module("encoder")
        };
        let classifier = match head {
            Head::Base => None,
            _ => Some(Classifier::load(config, &w.module("classifier"))?),
        };
        let width = config.embedding_dim;
        Ok(Box::new(GraphormerModel {
            graph_encoder: GraphEncoder::load(config, &base.module("graph_encoder"))?,
            lm_head_transform_weight: Linear::load(
                &base.module("lm_head_transform_weight"),
                width,
                width,
            )?,
            activation_fn: config.activation_fn,
            layer_norm: LayerNorm::load(&base.module("layer_norm"), width, LAYER_NORM_EPS)?,
            classifier,
        }))
    }
}

/// `GraphormerDecoderHead`.
struct Classifier<B: Ops> {
    classifier: Linear<B>,
    /// One number for all classes.
    lm_output_learned_bias: Tensor<B, 1>,
}

impl<B: Ops> Classifier<B> {
    fn load(config: &GraphormerConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, classes) = (config.embedding_dim, config.num_classes);
        Ok(Self {
            classifier: Linear::load_with_bias(&w.module("classifier"), width, classes, false)?,
            lm_output_learned_bias: w.tensor("lm_output_learned_bias", [1])?,
        })
    }

    /// [batch, width] to [batch, classes].
    fn forward(&self, graph: Tensor<B, 2>) -> Tensor<B, 2> {
        self.classifier.forward(graph) + self.lm_output_learned_bias.clone().reshape([1, 1])
    }
}

struct GraphormerModel<B: Ops> {
    graph_encoder: GraphEncoder<B>,
    lm_head_transform_weight: Linear<B>,
    activation_fn: Activation,
    layer_norm: LayerNorm<B>,
    classifier: Option<Classifier<B>>,
}

impl<B: Ops> GraphormerModel<B> {
    /// Of each token of [batch, tokens, width] by itself.
    fn transform(&self, hidden: Tensor<B, 3>) -> Tensor<B, 3> {
        let hidden = activate(
            self.lm_head_transform_weight.forward(hidden),
            self.activation_fn,
        );
        self.layer_norm.forward(hidden)
    }
}

impl<B: Ops> Network<B> for GraphormerModel<B> {
    /// `last_hidden_state` [batch, 1 + nodes, width], the graph's own token first; or `logits`
    /// [batch, classes] of that token.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let hidden = self.graph_encoder.forward(inputs, context)?;
        let Some(classifier) = &self.classifier else {
            return context.output("last_hidden_state", self.transform(hidden));
        };
        let [batch, _, width] = hidden.dims();
        // Taken before the transformation, which works on each token alone, because the classes
        // read no other.
        let graph = self
            .transform(hidden.narrow(1, 0, 1))
            .reshape([batch, width]);
        context.output("logits", classifier.forward(graph))
    }
}

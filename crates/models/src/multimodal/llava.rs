//! LLaVA (Liu et al. 2023): `transformers.models.llava`, a CLIP encoder for images before a Llama.

mod config;

pub(crate) use config::LlavaConfig;

use crate::{
    capabilities::Capabilities,
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    text::{causal_decoder::Embeddings, llama_decoder::LlamaDecoder},
    vision_blocks::clip_encoder::ClipImageEncoder,
};
use burn_tensor::{Tensor, module};
use config::Strategy;
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Linear, Mlp},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// `model_type` `llava`.
pub(crate) struct Llava;

impl ModelDef for Llava {
    type Config = LlavaConfig;

    fn load<B: Ops>(config: &LlavaConfig, _: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let text = config
            .text_config
            .as_deref()
            .expect("the configuration was validated");
        let (width, vocab) = (text.fields.hidden_size, text.fields.vocab_size);
        let model = w.strip_prefix("model");
        // Checkpoints keep the decoder with its head, as `language_model.model` and
        // `language_model.lm_head`.
        let language = model.module("language_model");
        let decoder = text.load_decoder(&language.strip_prefix("model"))?;
        let head = w.module_named(&["lm_head", "language_model.lm_head"]);
        // Either configuration may say it: the head belongs to both.
        let tied = config.tie_word_embeddings || text.fields.tie_word_embeddings;
        let tied = tied.then(|| decoder.embeddings.table());
        let lm_head = Linear::load_or_tie(&head, [width, vocab], tied)?;
        let images = Images::load(config, width, &model)?;
        let (tokens_per_image, image_token) = (config.tokens_per_image(), config.image_token_index);
        Ok(Box::new(LlavaModel {
            images,
            decoder,
            lm_head,
            image_token,
            tokens_per_image,
        }))
    }
}

struct LlavaModel<B: Ops> {
    images: Images<B>,
    decoder: LlamaDecoder<B>,
    lm_head: Linear<B>,
    image_token: i64,
    tokens_per_image: usize,
}

impl<B: Ops> Network<B> for LlavaModel<B> {
    /// `logits` [batch, seq, vocab]. The image tokens of `input_ids` are replaced by the features
    /// of `pixel_values`, in their order; without images they are tokens as others.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let mut x = self.decoder.embed(inputs, context)?;
        if inputs.host("pixel_values").is_some() {
            x = self.merged(x, self.images.features(inputs, context)?, inputs)?;
        }
        let hidden = self.decoder.decode(x, inputs, context)?;
        context.output("logits", self.lm_head.forward(hidden))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            cacheable_length: self.decoder.positions.cacheable(),
            cache_reset_length: self.decoder.positions.cache_reset_length(),
            tokens_per_image: Some(self.tokens_per_image),
            ..Capabilities::decoder(self.decoder.layers.depth())
        }
    }
}

impl<B: Ops> LlavaModel<B> {
    /// `x` [batch, seq, width] with the rows of `features` [tokens, width] at the positions of the
    /// image tokens.
    fn merged(
        &self,
        x: Tensor<B, 3>,
        features: Tensor<B, 2>,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let ([batch, seq, width], [count, _]) = (x.dims(), features.dims());
        // Integers, or the embeddings of the decoder would have refused them.
        let ids = inputs
            .host("input_ids")
            .and_then(|ids| ids.as_integers())
            .unwrap_or_default();
        // Rows after the rows of the tokens are features: one lookup then finds tokens and
        // features.
        let mut next = (batch * seq) as i64;
        let places: Vec<i64> = ids
            .iter()
            .enumerate()
            .map(|(own, id)| {
                if *id != self.image_token {
                    return own as i64;
                }
                next += 1;
                next - 1
            })
            .collect();
        // `get_placeholder_mask` fails as well; here a place could be beyond the rows.
        let found = ids.iter().filter(|id| **id == self.image_token).count();
        if found != count {
            return Err(ForwardError::WrongInput {
                name: "input_ids".to_owned(),
                found: format!("{found} image tokens"),
                expected: format!("the {count} of `pixel_values`"),
            });
        }
        let rows = Tensor::cat(vec![x.reshape([batch * seq, width]), features], 0);
        Ok(module::embedding(
            rows,
            inputs.put_indices(places, [batch, seq]),
        ))
    }
}

/// The encoder and what makes its hidden states as wide as the decoder's.
struct Images<B: Ops> {
    image_encoder: ClipImageEncoder<B>,
    layers: Vec<usize>,
    strategy: Strategy,
    projector: Mlp<B>,
}

impl<B: Ops> Images<B> {
    fn load(config: &LlavaConfig, width: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let vision = config
            .vision_config
            .as_deref()
            .expect("the configuration was validated");
        let image_encoder = w.module("vision_tower").strip_prefix("vision_model");
        // Never empty: `validate` has found the layers in the encoder.
        let layers = config
            .vision_feature_layer
            .indices(vision.encoder.num_hidden_layers + 1)
            .unwrap_or_default();
        let (projector, bias) = (
            w.module("multi_modal_projector"),
            config.multimodal_projector_bias,
        );
        // In the checkpoint, and in no output: the features are taken before it.
        drop(
            vision
                .encoder
                .norm::<B>(&image_encoder.module("post_layernorm"))?,
        );
        let linear =
            |name, inner| Linear::load_with_bias(&projector.module(name), inner, width, bias);
        Ok(Self {
            image_encoder: ClipImageEncoder::load_clip(
                &vision.encoder,
                &vision.image,
                &image_encoder,
            )?,
            projector: Mlp {
                up: linear("linear_1", layers.len() * vision.encoder.hidden_size)?,
                activation: config.projector_hidden_act,
                down: linear("linear_2", width)?,
            },
            layers,
            strategy: config.vision_feature_select_strategy,
        })
    }

    /// [images * tokens, width] of `pixel_values`.
    fn features(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError> {
        let states = self.image_encoder.hidden_states(inputs, context)?;
        let chosen = self
            .layers
            .iter()
            .map(|layer| states[*layer].clone())
            .collect();
        let features: Tensor<B, 3> = Tensor::cat(chosen, 2);
        let [images, places, width] = features.dims();
        let features = match self.strategy {
            // The class token is the first place.
            Strategy::Default => features.narrow(1, 1, places - 1),
            Strategy::Full => features,
        };
        let tokens = features.dims()[1];
        let projected = self
            .projector
            .forward(features.reshape([1, images * tokens, width]));
        let width = projected.dims()[2];
        Ok(projected.reshape([images * tokens, width]))
    }
}

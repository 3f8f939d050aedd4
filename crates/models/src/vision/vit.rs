//! ViT (Dosovitskiy et al. 2020) and DeiT (Touvron et al. 2020): `transformers.models.vit`,
//! `transformers.models.deit`.
//!
//! DeiT is ViT with a distillation token after the class token, and a head that reads both.

use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    text::text_head::first_token,
    vision_blocks::vision_transformer::{
        IN_MEMORY, PatchEmbedding, SAVED, VisionFields, VisionLayer, VisionShape, VisionStack,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json` of both types.
#[derive(Debug, Deserialize)]
pub(crate) struct VitConfig {
    #[serde(flatten)]
    fields: VisionFields,
    intermediate_size: usize,
    pooler_output_size: Option<usize>,
    pooler_act: Activation,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for VitConfig {
    /// The decoder of masked image modelling.
    const INERT: &'static [&'static str] = &["encoder_stride"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::Base => Vec::new(),
            _ => ["pooler_act", "pooler_output_size"]
                .map(|field| (field, "only the base model has a pooler"))
                .to_vec(),
        }
    }
}

/// `model_type` `vit`.
pub(crate) struct Vit;

impl ModelDef for Vit {
    type Config = VitConfig;

    fn load<B: Ops>(
        config: &VitConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        VitModel::load(
            config,
            &["cls_token"],
            head,
            labels,
            &w.strip_prefix("vit"),
            w,
        )
    }
}

/// `model_type` `deit`.
pub(crate) struct Deit;

impl ModelDef for Deit {
    type Config = VitConfig;

    fn load<B: Ops>(
        config: &VitConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        VitModel::load(
            config,
            &["cls_token", "distillation_token"],
            head,
            labels,
            &w.strip_prefix("deit"),
            w,
        )
    }
}

struct VitModel<B: Ops> {
    encoder: VitEncoder<B>,
    head: VitHead<B>,
}

impl<B: Ops> VitModel<B> {
    /// With the `special` tokens before the patches.
    fn load(
        config: &VitConfig,
        special: &[&str],
        head: Head,
        labels: usize,
        base: &Weights<B>,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let encoder = VitEncoder::load(
            &config.fields.shape(config.intermediate_size),
            special,
            base,
        )?;
        Ok(Box::new(Self {
            encoder,
            head: VitHead::load(config, head, labels, base, w)?,
        }))
    }
}

enum VitHead<B: Ops> {
    /// `last_hidden_state` and `pooler_output` [batch, pooler_output_size].
    Pooler {
        dense: Linear<B>,
        activation: Activation,
    },
    /// `logits` [batch, labels], of the class token.
    Classifier(Linear<B>),
    /// `cls_logits` and `distillation_logits` [batch, labels], of the first two tokens, and
    /// `logits`, their mean.
    Teacher {
        class: Linear<B>,
        distillation: Linear<B>,
    },
}

impl<B: Ops> VitHead<B> {
    fn load(
        config: &VitConfig,
        head: Head,
        labels: usize,
        base: &Weights<B>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let classifier = |name| Linear::load(&w.module(name), config.fields.hidden_size, labels);
        Ok(match head {
            Head::ImageClassification => Self::Classifier(classifier("classifier")?),
            Head::ImageClassificationWithTeacher => Self::Teacher {
                class: classifier("cls_classifier")?,
                distillation: classifier("distillation_classifier")?,
            },
            // The registry lists no other head than the base class.
            _ => {
                let width = config
                    .pooler_output_size
                    // `ViTConfig` fills in the same if the field is null.
                    .unwrap_or(config.fields.hidden_size);
                let dense = Linear::load(
                    &base.module("pooler.dense"),
                    config.fields.hidden_size,
                    width,
                )?;
                Self::Pooler {
                    dense,
                    activation: config.pooler_act,
                }
            }
        })
    }
}

impl<B: Ops> Network<B> for VitModel<B> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let last = self
            .encoder
            .stack
            .forward(self.encoder.embed(inputs)?, context, |_, x| x)?;
        let first = first_token(last.clone());
        match &self.head {
            VitHead::Classifier(classifier) => context.output("logits", classifier.forward(first)),
            VitHead::Teacher {
                class,
                distillation,
            } => {
                // The distillation token is the second.
                let second = first_token(last.narrow(1, 1, 1));
                let (class, distillation) = (class.forward(first), distillation.forward(second));
                context.output("cls_logits", class.clone())?;
                context.output("distillation_logits", distillation.clone())?;
                context.output("logits", (class + distillation) / 2.0)
            }
            VitHead::Pooler { dense, activation } => {
                context.output("last_hidden_state", last)?;
                context.output("pooler_output", activate(dense.forward(first), *activation))
            }
        }
    }
}

struct VitEncoder<B: Ops> {
    patches: PatchEmbedding<B>,
    /// [1, 1, width] each, before the patches.
    special: Vec<Tensor<B, 3>>,
    position_embeddings: Tensor<B, 3>,
    stack: VisionStack<B>,
    /// Channels, height and width.
    image: [usize; 3],
}

impl<B: Ops> VitEncoder<B> {
    fn load(shape: &VisionShape, special: &[&str], w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, embeddings) = (shape.width, w.module("embeddings"));
        let tokens = special.len() + shape.grid().patches();
        // transformers 5 may save the names that its modules have in memory.
        let layers = w.module_named(&["encoder.layer", "layers"]);
        Ok(Self {
            patches: PatchEmbedding::load(shape, &embeddings)?,
            special: special
                .iter()
                .map(|name| embeddings.tensor(name, [1, 1, width]))
                .collect::<Result<_, _>>()?,
            position_embeddings: embeddings.tensor("position_embeddings", [1, tokens, width])?,
            stack: VisionStack::load(shape, w, &layers, {
                let shape = *shape;
                move |w| {
                    let names = if w.has("mlp.fc1.weight") {
                        &IN_MEMORY
                    } else {
                        &SAVED
                    };
                    VisionLayer::load(&shape, names, w)
                }
            })?,
            image: [shape.channels, shape.image[0], shape.image[1]],
        })
    }

    /// The special tokens and the patches, [batch, tokens, width].
    fn embed(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        // Exactly the trained size: `interpolate_pos_encoding` is off in the forward pass of
        // transformers by default.
        let patches = self
            .patches
            .forward(inputs.image("pixel_values", self.image)?)
            .hidden;
        let [batch, _, width] = patches.dims();
        let special = self
            .special
            .iter()
            .map(|token| token.clone().expand([batch, 1, width]));
        Ok(Tensor::cat(special.chain([patches]).collect(), 1) + self.position_embeddings.clone())
    }
}

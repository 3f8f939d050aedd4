//! DINOv2 (Oquab et al. 2023): `transformers.models.dinov2`.
//!
//! ViT with scaled shortcuts, a gated MLP in the largest model, and positions that are resampled to
//! the size of the image.

use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    text::text_head::first_token,
    vision_blocks::vision_transformer::{
        Grid, IN_MEMORY, PatchEmbedding, Patches, SAVED, VisionFields, VisionLayer, VisionMlp,
        VisionNames, VisionShape, VisionStack,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{GatedMlp, Linear, Mlp, ProjectionNames, bicubic, mean},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dinov2Config {
    #[serde(flatten)]
    fields: VisionFields,
    mlp_ratio: f64,
    use_swiglu_ffn: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for Dinov2Config {
    /// Training (`layerscale_value` is a start value, the mask token is for hidden patches), and
    /// what a backbone for other models returns.
    const INERT: &'static [&'static str] = &[
        "apply_layernorm",
        "drop_path_rate",
        "layerscale_value",
        "out_features",
        "out_indices",
        "reshape_hidden_states",
        "stage_names",
        "use_mask_token",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        match self.use_swiglu_ffn {
            true => vec![("hidden_act", "the gated MLP always uses SiLU")],
            false => Vec::new(),
        }
    }
}

impl Dinov2Config {
    fn shape(&self) -> VisionShape {
        // Cut off like Python's `int`.
        let inner = (self.fields.hidden_size as f64 * self.mlp_ratio) as usize;
        self.fields.shape(if self.use_swiglu_ffn {
            gated(inner)
        } else {
            inner
        })
    }
}

/// Two thirds, rounded down and then up to a multiple of eight.
fn gated(inner: usize) -> usize {
    // A gated MLP has three matrices, so two thirds keep the number of weights; `Dinov2SwiGLUFFN`
    // rounds like this.
    (inner * 2 / 3).next_multiple_of(8)
}

/// `model_type` `dinov2`.
pub(crate) struct Dinov2;

impl ModelDef for Dinov2 {
    type Config = Dinov2Config;

    fn load<B: Ops>(
        config: &Dinov2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let encoder = Dinov2Encoder::load(config, &w.strip_prefix("dinov2"))?;
        let classifier = (head == Head::ImageClassification)
            .then(|| {
                Linear::load(
                    &w.module("classifier"),
                    // The class token and the mean of the patches, side by side.
                    2 * config.fields.hidden_size,
                    labels,
                )
            })
            .transpose()?;
        Ok(Box::new(Dinov2Model {
            encoder,
            classifier,
        }))
    }
}

struct Dinov2Model<B: Ops> {
    encoder: Dinov2Encoder<B>,
    classifier: Option<Linear<B>>,
}

impl<B: Ops> Network<B> for Dinov2Model<B> {
    /// `logits` [batch, labels], of the class token beside the mean of the patches; of the base
    /// model `last_hidden_state` and `pooler_output`, the class token.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let last = self
            .encoder
            .stack
            .forward(self.encoder.embed(inputs)?, context, |_, x| x)?;
        let class = first_token(last.clone());
        let Some(classifier) = &self.classifier else {
            context.output("last_hidden_state", last)?;
            return context.output("pooler_output", class);
        };
        let [batch, tokens, width] = last.dims();
        let mean = mean(last.narrow(1, 1, tokens - 1), 1).reshape([batch, width]);
        context.output(
            "logits",
            classifier.forward(Tensor::cat(vec![class, mean], 1)),
        )
    }
}

struct Dinov2Encoder<B: Ops> {
    patches: PatchEmbedding<B>,
    cls_token: Tensor<B, 3>,
    /// [1, 1 + positions, width].
    position_embeddings: Tensor<B, 3>,
    stack: VisionStack<B>,
    channels: usize,
}

impl<B: Ops> Dinov2Encoder<B> {
    fn load(config: &Dinov2Config, w: &Weights<B>) -> Result<Self, WeightsError> {
        let shape = config.shape();
        let (width, embeddings) = (shape.width, w.module("embeddings"));
        let positions = shape.grid().patches();
        // transformers 5 may save the names that its modules have in memory.
        let layers = w.module_named(&["encoder.layer", "layers"]);
        // Replaces hidden patches in pretraining; no class here hides any.
        embeddings.mark_unused("mask_token");
        Ok(Self {
            patches: PatchEmbedding::load(&shape, &embeddings)?,
            cls_token: embeddings.tensor("cls_token", [1, 1, width])?,
            position_embeddings: embeddings
                .tensor("position_embeddings", [1, 1 + positions, width])?,
            stack: VisionStack::load(&shape, w, &layers, {
                let config = config.clone();
                move |w| load_layer(&config, &shape, w)
            })?,
            channels: shape.channels,
        })
    }

    /// The class token and the patches, [batch, 1 + patches, width].
    fn embed(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let pixels = inputs.image_of_channels("pixel_values", self.channels)?;
        // Of pixels and not of patches: an image that is not square can have a square of patches.
        let square = pixels.dims()[2] == pixels.dims()[3];
        let Patches {
            hidden: patches,
            grid,
        } = self.patches.forward(pixels);
        let [batch, _, width] = patches.dims();
        let class = self.cls_token.clone().expand([batch, 1, width]);
        Ok(Tensor::cat(vec![class, patches], 1) + self.positions(grid, square, inputs)?)
    }

    /// The positions of `grid`, [1, 1 + rows * columns, width].
    fn positions(
        &self,
        grid: Grid,
        square: bool,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let [_, tokens, width] = self.position_embeddings.dims();
        let (count, side) = (tokens - 1, (tokens - 1).isqrt());
        // As in transformers, the table is taken for a square one unless the image is square and
        // has as many patches as there are positions.
        if square && grid.patches() == count {
            return Ok(self.position_embeddings.clone());
        }
        if side * side != count || grid.patches() == 0 {
            let found = format!("an image of {:?} patches", grid.dims());
            let expected = format!(
                "a square one of {count}, because the positions must form a square to be resampled"
            );
            return Err(ForwardError::WrongInput {
                name: "pixel_values".to_owned(),
                found,
                expected,
            });
        }
        // The class token has no place in the image, so that its position stays as it is.
        let class = self.position_embeddings.clone().narrow(1, 0, 1);
        let table = self
            .position_embeddings
            .clone()
            .narrow(1, 1, count)
            .reshape([1, side, side, width]);
        let table = bicubic(table, grid.dims(), inputs).reshape([1, grid.patches(), width]);
        Ok(Tensor::cat(vec![class, table], 1))
    }
}

fn load_layer<B: Ops>(
    config: &Dinov2Config,
    shape: &VisionShape,
    w: &Weights<B>,
) -> Result<VisionLayer<B>, WeightsError> {
    let attention = if w.has("attention.q_proj.weight") {
        IN_MEMORY.attention
    } else {
        SAVED.attention
    };
    let names = VisionNames {
        before: "norm1",
        attention,
        after: "norm2",
        up: "mlp.fc1",
        down: "mlp.fc2",
    };
    let (width, inner) = (shape.width, shape.inner);
    let mlp = if config.use_swiglu_ffn {
        let names = (ProjectionNames::Joined("mlp.weights_in"), "mlp.weights_out");
        VisionMlp::Gated(GatedMlp::load(
            w,
            names,
            [width, inner],
            Activation::Silu,
            true,
        )?)
    } else {
        VisionMlp::Plain(Mlp::load(
            w,
            [names.up, names.down],
            [width, inner],
            shape.activation,
            true,
        )?)
    };
    let scales = [
        w.tensor("layer_scale1.lambda1", [width])?,
        w.tensor("layer_scale2.lambda1", [width])?,
    ];
    VisionLayer::load_with(shape, &names, mlp, Some(scales), w)
}

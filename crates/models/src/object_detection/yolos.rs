//! YOLOS (Fang et al. 2021): `transformers.models.yolos`.
//!
//! ViT with tokens for objects after the patches; positions, also between the layers, are resampled
//! to the size of the image.

use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    text::text_head::first_token,
    vision_blocks::{
        detection_head::{DetectionHead, DetectionMlp, Labels},
        vision_transformer::{
            Grid, PatchEmbedding, Patches, SAVED, VisionFields, VisionLayer, VisionShape,
            VisionStack,
        },
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
    layer::{Linear, bicubic},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct YolosConfig {
    #[serde(flatten)]
    fields: VisionFields,
    intermediate_size: usize,
    num_detection_tokens: usize,
    use_mid_position_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for YolosConfig {
    /// Training.
    const INERT: &'static [&'static str] = &[
        "auxiliary_loss",
        "bbox_cost",
        "bbox_loss_coefficient",
        "class_cost",
        "eos_coefficient",
        "giou_cost",
        "giou_loss_coefficient",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        if self.num_detection_tokens == 0 {
            return Err("`num_detection_tokens` is 0".to_owned());
        }
        let VisionShape { image, patch, .. } = self.shape();
        image
            .iter()
            .zip(patch)
            .try_for_each(|(side, patch)| divides("image_size", *side, "patch_size", patch))
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        match self.fields.num_hidden_layers {
            0 | 1 => vec![(
                "use_mid_position_embeddings",
                "there is nothing between the layers",
            )],
            _ => Vec::new(),
        }
    }
}

impl YolosConfig {
    fn shape(&self) -> VisionShape {
        self.fields.shape(self.intermediate_size)
    }
}

/// `model_type` `yolos`.
pub(crate) struct Yolos;

impl ModelDef for Yolos {
    type Config = YolosConfig;

    fn load<B: Ops>(
        config: &YolosConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let (base, width) = (w.strip_prefix("vit"), config.fields.hidden_size);
        let encoder = YolosEncoder::load(config, &base)?;
        let head = match head {
            Head::ObjectDetection => YolosHead::Objects(DetectionHead {
                // One more for "no object".
                labels: Labels::Mlp(DetectionMlp::load(
                    &w.module("class_labels_classifier"),
                    width,
                    labels + 1,
                )?),
                boxes: DetectionMlp::load(&w.module("bbox_predictor"), width, 4)?,
            }),
            _ => YolosHead::Pooler(Linear::load(&base.module("pooler.dense"), width, width)?),
        };
        Ok(Box::new(YolosModel {
            encoder,
            head,
            queries: config.num_detection_tokens,
        }))
    }
}

struct YolosModel<B: Ops> {
    encoder: YolosEncoder<B>,
    head: YolosHead<B>,
    queries: usize,
}

enum YolosHead<B: Ops> {
    /// `pooler_output` [batch, width], of the class token.
    Pooler(Linear<B>),
    Objects(DetectionHead<B>),
}

impl<B: Ops> Network<B> for YolosModel<B> {
    /// `last_hidden_state` [batch, tokens, width] and the outputs of the head.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let last = self.encoder.forward(inputs, context)?;
        context.output("last_hidden_state", last.clone())?;
        match &self.head {
            // `YolosPooler` takes tanh whatever `hidden_act` is.
            YolosHead::Pooler(dense) => context.output(
                "pooler_output",
                activate(dense.forward(first_token(last)), Activation::Tanh),
            ),
            YolosHead::Objects(head) => {
                // `YolosForObjectDetection` reads the detection tokens alone, the last.
                let tokens = last.dims()[1];
                head.forward(last.narrow(1, tokens - self.queries, self.queries), context)
            }
        }
    }
}

struct YolosEncoder<B: Ops> {
    patches: PatchEmbedding<B>,
    cls_token: Tensor<B, 3>,
    detection_tokens: Tensor<B, 3>,
    position_embeddings: YolosPositions<B>,
    /// Added after every layer except the last.
    mid_position_embeddings: Vec<YolosPositions<B>>,
    stack: VisionStack<B>,
    channels: usize,
}

impl<B: Ops> YolosEncoder<B> {
    fn load(config: &YolosConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (shape, embeddings) = (config.shape(), w.module("embeddings"));
        let (width, grid, queries) = (shape.width, shape.grid(), config.num_detection_tokens);
        let tokens = 1 + grid.patches() + queries;
        let between = if config.use_mid_position_embeddings {
            shape.layers.saturating_sub(1)
        } else {
            0
        };
        // Saved also where there is nothing between layers.
        if between == 0 && config.use_mid_position_embeddings {
            w.mark_unused("encoder.mid_position_embeddings");
        }
        let mid = (between > 0)
            .then(|| {
                w.tensor(
                    "encoder.mid_position_embeddings",
                    [between, 1, tokens, width],
                )
            })
            .transpose()?;
        let positions = |table| YolosPositions {
            table,
            grid,
            queries,
        };
        Ok(Self {
            patches: PatchEmbedding::load(&shape, &embeddings)?,
            cls_token: embeddings.tensor("cls_token", [1, 1, width])?,
            detection_tokens: embeddings.tensor("detection_tokens", [1, queries, width])?,
            position_embeddings: positions(
                embeddings.tensor("position_embeddings", [1, tokens, width])?,
            ),
            mid_position_embeddings: (0..between)
                .filter_map(|index| {
                    mid.clone().map(|mid: Tensor<B, 4>| {
                        mid.narrow(0, index, 1).reshape([1, tokens, width])
                    })
                })
                .map(positions)
                .collect(),
            stack: VisionStack::load(&shape, w, &w.module("encoder.layer"), move |w| {
                VisionLayer::load(&shape, &SAVED, w)
            })?,
            channels: shape.channels,
        })
    }

    /// [batch, tokens, width], after the final norm.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let pixels = inputs.image_of_channels("pixel_values", self.channels)?;
        let Patches {
            hidden: patches,
            grid,
        } = self.patches.forward(pixels);
        let [batch, _, width] = patches.dims();
        let class = self.cls_token.clone().expand([batch, 1, width]);
        let queries = self.position_embeddings.queries;
        let objects = self
            .detection_tokens
            .clone()
            .expand([batch, queries, width]);
        let x = Tensor::cat(vec![class, patches, objects], 1)
            + self.position_embeddings.at(grid, inputs);
        self.stack.forward(x, context, |index: usize, x| {
            match self.mid_position_embeddings.get(index) {
                // The layer may be on another device than the model.
                Some(positions) => x.clone() + positions.at(grid, inputs).to_device(&x.device()),
                None => x,
            }
        })
    }
}

/// Positions of the class token, of the patches of the trained size, and of the objects.
struct YolosPositions<B: Ops> {
    /// [1, 1 + rows * columns + queries, width].
    table: Tensor<B, 3>,
    grid: Grid,
    queries: usize,
}

impl<B: Ops> YolosPositions<B> {
    /// The embeddings of an image of `grid` patches.
    fn at(&self, grid: Grid, inputs: &Inputs<'_, B>) -> Tensor<B, 3> {
        // transformers resamples in this case, too; at equal sizes the bicubic weights are 0 and 1.
        if grid == self.grid {
            return self.table.clone();
        }
        let ([_, _, width], Grid { rows, columns }) = (self.table.dims(), self.grid);
        let part = |start, length| self.table.clone().narrow(1, start, length);
        let patches = part(1, rows * columns).reshape([1, rows, columns, width]);
        let patches = bicubic(patches, grid.dims(), inputs).reshape([1, grid.patches(), width]);
        Tensor::cat(
            vec![part(0, 1), patches, part(1 + rows * columns, self.queries)],
            1,
        )
    }
}

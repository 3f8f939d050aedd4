//! The common part of ViT and its relatives: an image as a sequence of patches, and layers that
//! normalise before attention and MLP.
//!
//! Does not own configurations, special tokens, positions nor heads, which differ from type to
//! type.

use crate::config::{ImageSize, divides_into_heads};
use burn_tensor::Tensor;
use serde::Deserialize;
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    layer::{
        AttentionNames, AttentionShape, Conv2d, Conv2dShape, GatedMlp, LayerNorm, Mlp,
        SelfAttention,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// The fields of `config.json` that every type has, with the defaults of ViT.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct VisionFields {
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    num_attention_heads: usize,
    hidden_act: Activation,
    layer_norm_eps: f64,
    image_size: ImageSize,
    patch_size: ImageSize,
    num_channels: usize,
    qkv_bias: bool,
}

impl VisionFields {
    pub(crate) fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)?;
        // `VisionShape::grid` divides by it.
        match self.patch_size.height_width().contains(&0) {
            true => Err("`patch_size` is 0".to_owned()),
            false => Ok(()),
        }
    }

    /// With `inner` values between the two projections of an MLP.
    pub(crate) fn shape(&self, inner: usize) -> VisionShape {
        VisionShape {
            width: self.hidden_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            inner,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
            qkv_bias: self.qkv_bias,
            channels: self.num_channels,
            image: self.image_size.height_width(),
            patch: self.patch_size.height_width(),
        }
    }
}

/// The sizes of an encoder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisionShape {
    pub(crate) width: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) activation: Activation,
    pub(crate) eps: f64,
    /// Whether query, key and value have a bias.
    pub(crate) qkv_bias: bool,
    pub(crate) channels: usize,
    /// Height and width.
    pub(crate) image: [usize; 2],
    /// Height and width.
    pub(crate) patch: [usize; 2],
}

impl VisionShape {
    /// The patches of an image of the trained size.
    pub(crate) fn grid(&self) -> Grid {
        // `validate` has refused a patch without pixels.
        // Rounded down like the convolution: pixels that fill no patch are not read.
        Grid {
            rows: self.image[0] / self.patch[0],
            columns: self.image[1] / self.patch[1],
        }
    }
}

/// Rows and columns of patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Grid {
    /// The number of patches.
    pub(crate) fn patches(self) -> usize {
        self.rows * self.columns
    }

    /// [rows, columns], the two dimensions of a tensor.
    pub(crate) fn dims(self) -> [usize; 2] {
        [self.rows, self.columns]
    }
}

/// The patches of images.
pub(crate) struct Patches<B: Ops> {
    /// [batch, rows * columns, width].
    pub(crate) hidden: Tensor<B, 3>,
    pub(crate) grid: Grid,
}

/// One linear projection for all patches of an image.
pub(crate) struct PatchEmbedding<B: Ops>(Conv2d<B>);

impl<B: Ops> PatchEmbedding<B> {
    /// `patch_embeddings.projection` below `w`.
    pub(crate) fn load(shape: &VisionShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (channels, patch) = ([shape.channels, shape.width], shape.patch);
        let shape = Conv2dShape {
            channels,
            kernel: patch,
            stride: patch,
            padding: [0, 0],
        };
        Ok(Self(Conv2d::load(
            &w.module("patch_embeddings.projection"),
            shape,
            true,
        )?))
    }

    /// The patches of `pixels` [batch, channels, height, width].
    pub(crate) fn forward(&self, pixels: Tensor<B, 4>) -> Patches<B> {
        let patches = self.0.forward(pixels);
        let [batch, width, rows, columns] = patches.dims();
        let hidden = patches
            .reshape([batch, width, rows * columns])
            .swap_dims(1, 2);
        Patches {
            hidden,
            grid: Grid { rows, columns },
        }
    }
}

/// The names of a layer's parts.
pub(crate) struct VisionNames {
    pub(crate) before: &'static str,
    pub(crate) attention: AttentionNames,
    pub(crate) after: &'static str,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
}

/// The MLP of a layer.
pub(crate) enum VisionMlp<B: Ops> {
    Plain(Mlp<B>),
    Gated(GatedMlp<B>),
}

impl<B: Ops> VisionMlp<B> {
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self {
            Self::Plain(mlp) => mlp.forward(x),
            Self::Gated(mlp) => mlp.forward(x),
        }
    }
}

/// Attention and an MLP, each after a norm and with a shortcut.
pub(crate) struct VisionLayer<B: Ops> {
    before: LayerNorm<B>,
    attention: SelfAttention<B>,
    after: LayerNorm<B>,
    mlp: VisionMlp<B>,
    /// The factors of the outputs of attention and MLP, [width] each.
    scales: Option<[Tensor<B, 1>; 2]>,
}

impl<B: Ops> VisionLayer<B> {
    /// A layer with an ungated MLP and without scales.
    pub(crate) fn load(
        shape: &VisionShape,
        names: &VisionNames,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let mlp = VisionMlp::Plain(Mlp::load(
            w,
            [names.up, names.down],
            [shape.width, shape.inner],
            shape.activation,
            true,
        )?);
        Self::load_with(shape, names, mlp, None, w)
    }

    pub(crate) fn load_with(
        shape: &VisionShape,
        names: &VisionNames,
        mlp: VisionMlp<B>,
        scales: Option<[Tensor<B, 1>; 2]>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let VisionShape {
            width,
            heads,
            eps,
            qkv_bias: bias,
            ..
        } = *shape;
        Ok(Self {
            before: LayerNorm::load(&w.module(names.before), width, eps)?,
            // `qkv_bias` is for the first three: the output projection has a bias in every model.
            attention: SelfAttention::load(
                w,
                &names.attention,
                &AttentionShape { width, heads, bias },
            )?,
            after: LayerNorm::load(&w.module(names.after), width, eps)?,
            mlp,
            scales,
        })
    }

    /// [batch, tokens, width].
    pub(crate) fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let x = x.clone() + self.scaled(0, self.attention.forward(self.before.forward(x), None));
        x.clone() + self.scaled(1, self.mlp.forward(self.after.forward(x)))
    }

    fn scaled(&self, index: usize, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match &self.scales {
            Some(scales) => x * scales[index].clone().unsqueeze(),
            None => x,
        }
    }
}

/// The layers, and the norm after them.
pub(crate) struct VisionStack<B: Ops> {
    layers: LayerStack<B, VisionLayer<B>>,
    layernorm: LayerNorm<B>,
}

impl<B: Ops> VisionStack<B> {
    /// `layernorm` below `w`, and the layers below `layers`, which `layer` loads.
    pub(crate) fn load(
        shape: &VisionShape,
        w: &Weights<B>,
        layers: &Weights<B>,
        layer: impl Fn(&Weights<B>) -> Result<VisionLayer<B>, WeightsError> + Send + 'static,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            layers: LayerStack::load(layers, shape.layers, move |_, w| layer(w))?,
            layernorm: LayerNorm::load(&w.module("layernorm"), shape.width, shape.eps)?,
        })
    }

    /// [batch, tokens, width]; `between` is the type's operation after a layer.
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 3>,
        context: &mut ForwardContext<'_, B>,
        between: impl Fn(usize, Tensor<B, 3>) -> Tensor<B, 3>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        context.trace_embed(&x)?;
        let x = self.layers.fold(context, x, &mut (), |x, at, context| {
            let x = at.layer.forward(x);
            // The traces are the outputs of the layers, before the norm, as in transformers.
            context.trace_layer(at.depth, &x)?;
            Ok(between(at.depth, x))
        })?;
        Ok(self.layernorm.forward(x))
    }
}

/// Names on disk.
pub(crate) const SAVED: VisionNames = VisionNames {
    before: "layernorm_before",
    attention: AttentionNames {
        query: "attention.attention.query",
        key: "attention.attention.key",
        value: "attention.attention.value",
        output: "attention.output.dense",
    },
    after: "layernorm_after",
    up: "intermediate.dense",
    down: "output.dense",
};

/// Names in memory of transformers 5, which it may save.
pub(crate) const IN_MEMORY: VisionNames = VisionNames {
    before: "layernorm_before",
    attention: AttentionNames {
        query: "attention.q_proj",
        key: "attention.k_proj",
        value: "attention.v_proj",
        output: "attention.o_proj",
    },
    after: "layernorm_after",
    up: "mlp.fc1",
    down: "mlp.fc2",
};

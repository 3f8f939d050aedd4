//! PatchTST: patches of every channel of a series, and layers over them.

use crate::{
    call::NetworkCall,
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, ElementType},
};
use testgen_types::Head;

/// Reads series of the length in the configuration.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let sizes = SeriesSizes::read(call)?;
    let series = call.floats(&[call.batch, sizes.time, sizes.channels]);
    let (values, unit) = scaled(series, call);
    let x = sizes.embed(patches(values, &sizes), call);
    let mut x = sizes.with_class(x, call);
    let layer = PatchLayer::read(call, sizes.width)?;
    for _ in 0..call.layers("num_hidden_layers")? {
        x = layer.forward(x);
    }
    let output = sizes.head(x, call)?;
    if call.head == Head::Prediction {
        let output = output.combine(unit[1].clone()).combine(unit[0].clone());
        call.output(output);
        for each in unit {
            call.output(each);
        }
    } else {
        call.output(output);
    }
    Ok(())
}

/// The most patches, which an estimate follows one by one.
// Published models have at most a few hundred.
const MOST_PATCHES: u64 = 1 << 16;

struct SeriesSizes {
    time: u64,
    channels: u64,
    length: u64,
    stride: u64,
    count: u64,
    width: u64,
    /// Whether there is a class token, and whether channels are pooled.
    class: bool,
    pooled: bool,
}

impl SeriesSizes {
    fn read(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let (time, length) = (config.size("context_length")?, config.size("patch_length")?);
        let stride = config.size("patch_stride")?;
        let rest = time
            .checked_sub(length)
            .ok_or_else(|| config.wrong("patch_length", "at most `context_length`"))?;
        let count = rest / stride + 1;
        if count > MOST_PATCHES {
            return Err(config.wrong("context_length", "a series of at most 65536 patches"));
        }
        let channels = match config.flag("share_embedding") {
            true => config.size("num_input_channels")?,
            // Each has a projection of its own.
            false => config.parts("num_input_channels")?,
        };
        let class = config.flag("use_cls_token");
        Ok(Self {
            time,
            channels,
            length,
            stride,
            count,
            width: config.size("d_model")?,
            class,
            pooled: class || !config.text("pooling_type").is_empty(),
        })
    }

    /// [batch, channels, patches, width].
    fn embed(&self, patches: AllocatedTensor, call: &NetworkCall<'_>) -> AllocatedTensor {
        let matrix = ProjectionMatrix::linear(self.length, self.width, true);
        let x = if call.config.flag("share_embedding") {
            matrix.forward(patches)
        } else {
            let channels =
                (0..self.channels).map(|index| matrix.forward(patches.clone().narrow(1, index, 1)));
            cat(channels.collect(), 1)
        };
        x.combine(call.weight(&[1, 1, self.count, self.width]))
    }

    fn with_class(&self, x: AllocatedTensor, call: &NetworkCall<'_>) -> AllocatedTensor {
        if !self.class {
            return x;
        }
        let token = call.empty(&[call.batch, self.channels, 1, self.width]);
        cat(vec![token, x], 2)
    }

    fn head(
        &self,
        hidden: AllocatedTensor,
        call: &NetworkCall<'_>,
    ) -> Result<AllocatedTensor, EstimateError> {
        let (batch, channels) = (call.batch, self.channels);
        let read = if self.pooled {
            call.empty(&[batch, channels, self.width])
        } else {
            hidden
                .clone()
                .reshape(&[batch, channels, self.count.saturating_mul(self.width)])
        };
        drop(hidden);
        let inner = read.dims()[2];
        if call.head == Head::Prediction {
            let out = call.config.size("prediction_length")?;
            let forecast = ProjectionMatrix::linear(inner, out, true).forward(read);
            return Ok(forecast.swap(1, 2));
        }
        let all = channels.saturating_mul(inner);
        let out = call.config.size("num_targets")?;
        Ok(ProjectionMatrix::linear(all, out, true).forward(read.reshape(&[batch, all])))
    }
}

/// A series in f32 less its offset and divided by its scale, which are returned, too; rounded to
/// the type of the model.
fn scaled(
    series: AllocatedTensor,
    call: &NetworkCall<'_>,
) -> (AllocatedTensor, [AllocatedTensor; 2]) {
    let (element, batch, channels) = (series.element, series.dims()[0], series.dims()[2]);
    let x = series.cast(ElementType::F32);
    let observed = x.like(ElementType::F32);
    // The products with what was observed, and their squares, until they are summed.
    drop([0; 2].map(|_| x.like(ElementType::F32)));
    let unit = [(); 2].map(|()| call.single(&[batch, 1, channels]));
    drop(observed);
    let values = x.combine(unit[0].clone()).combine(unit[1].clone());
    (values.cast(element), unit.map(|part| part.cast(element)))
}

/// [batch, channels, patches, length]; neighbouring patches may overlap.
fn patches(series: AllocatedTensor, sizes: &SeriesSizes) -> AllocatedTensor {
    let (batch, channels) = (series.dims()[0], series.dims()[2]);
    // As `PatchTSTPatchify`: values at the start that fill no whole patch are left out.
    let first = sizes.time - (sizes.length + sizes.stride * (sizes.count - 1));
    let patch = |index| {
        let start = first + index * sizes.stride;
        let part = series.clone().narrow(1, start, sizes.length);
        // As a row of a new dimension.
        let copied = part.contiguous();
        copied.reshape(&[batch, 1, sizes.length, channels])
    };
    let stacked = cat((0..sizes.count).map(patch).collect(), 1);
    stacked.permute(&[0, 3, 1, 2])
}

/// Attention over patches, with the same weights over channels if configured, and an MLP.
struct PatchLayer {
    attention: Attention,
    mlp: MlpKind,
    channels: bool,
    before: bool,
    batch_norm: bool,
}

impl PatchLayer {
    fn read(call: &NetworkCall<'_>, width: u64) -> Result<Self, EstimateError> {
        let config = call.config;
        let activation = ActivationMemory::named(config.text("activation_function"));
        let inner = [width, config.size("ffn_dim")?];
        Ok(Self {
            attention: Attention::new(width, config.size("num_attention_heads")?, true),
            mlp: MlpKind::plain(inner, activation, config.flag("bias")),
            channels: config.flag("channel_attention"),
            before: config.flag("pre_norm"),
            batch_norm: config.text("norm_type") == "batchnorm",
        })
    }

    /// [batch, channels, places, width].
    fn forward(&self, x: AllocatedTensor) -> AllocatedTensor {
        let [batch, channels, places, width] = [0, 1, 2, 3].map(|index| x.dims()[index]);
        let rows = [batch.saturating_mul(channels), places, width];
        let attend = |x| self.attention.forward(x, None);
        let mut x = self
            .around(x.reshape(&rows), attend)
            .reshape(&[batch, channels, places, width]);
        if self.channels {
            let columns = [batch.saturating_mul(places), channels, width];
            let across = x.swap(1, 2).reshape(&columns);
            x = self
                .around(across, attend)
                .reshape(&[batch, places, channels, width])
                .swap(1, 2);
        }
        let x = self.around(x.reshape(&rows), |x| self.mlp.forward(x));
        x.reshape(&[batch, channels, places, width])
    }

    /// A part with its norm before it, or after the sum.
    fn around(
        &self,
        x: AllocatedTensor,
        part: impl Fn(AllocatedTensor) -> AllocatedTensor,
    ) -> AllocatedTensor {
        if self.before {
            x.clone().combine(part(self.normalised(x)))
        } else {
            self.normalised(x.clone().combine(part(x)))
        }
    }

    fn normalised(&self, x: AllocatedTensor) -> AllocatedTensor {
        if self.batch_norm {
            x.batch_norm()
        } else {
            x.layer_norm()
        }
    }
}

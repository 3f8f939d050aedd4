//! The denoiser of latent diffusion: blocks down to the lowest resolution and up again.

use crate::{
    attention::{KeyValueTensors, attend, split_heads},
    call::NetworkCall,
    config::CompleteConfig,
    diffusion::{ResidualSizes, doubled, halved, same_size},
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::Attention,
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
};

/// Reads latents of the size in the configuration, and a condition of `tokens` tokens.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let unet = DenoiserSizes::read(call)?;
    let (first, inner) = (unet.widths[0], config.size("in_channels")?);
    let [height, breadth] = call.latents()?;
    let mut x = call.floats(&[call.batch, inner, height, breadth]);
    if config.flag("center_input_sample") {
        x = x.map();
    }
    let time = unet.time(call, first);
    let texts = call.floats(&[call.batch, call.tokens, unet.blocks[0].condition]);
    let about = Condition { time, texts };
    let x = same_size([inner, first], config.parts("conv_in_kernel")?).forward(x);
    let x = unet.forward(x, &about);
    let out = [first, config.size("out_channels")?];
    let sample = unet.residual.end(out, config.parts("conv_out_kernel")?, x);
    call.output(sample);
    drop(about);
    Ok(())
}

struct DenoiserSizes {
    residual: ResidualSizes,
    /// The channels of each resolution.
    widths: Vec<u64>,
    blocks: Vec<ResolutionSizes>,
    padding: u64,
}

/// One resolution, on the way down and on the way up.
#[derive(Debug, Clone, Copy)]
struct ResolutionSizes {
    layers: u64,
    /// Whether its layers on the way down and up attend to the condition.
    attends: [bool; 2],
    heads: u64,
    depth: u64,
    condition: u64,
    linear: bool,
}

impl DenoiserSizes {
    fn read(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let widths = config.sizes("block_out_channels")?;
        let time = config.size_if_set("time_embedding_dim")?;
        let padding = config.number("downsample_padding").unwrap_or_default();
        Ok(Self {
            residual: ResidualSizes {
                groups: config.size("norm_num_groups")?,
                activation: ActivationMemory::named(config.text("act_fn")),
                // As `UNet2DConditionModel` derives it.
                time: Some(time.unwrap_or(widths[0].saturating_mul(4))),
            },
            blocks: blocks(config, widths.len(), call.limit)?,
            widths,
            padding: u64::from(padding > 0.0),
        })
    }

    /// The embedding of time, [batch, time].
    fn time(&self, call: &NetworkCall<'_>, first: u64) -> AllocatedTensor {
        let width = self.residual.time.unwrap_or(first);
        let waves = call.floats(&[call.batch, first]);
        let inner = ProjectionMatrix::linear(first, width, true).forward(waves);
        let inner = inner.activate(self.residual.activation);
        ProjectionMatrix::linear(width, width, true).forward(inner)
    }

    /// Every layer on the way up also reads the output of its counterpart on the way down.
    fn forward(&self, x: AllocatedTensor, about: &Condition) -> AllocatedTensor {
        let mut kept = vec![x.clone()];
        let x = self.down(x, about, &mut kept);
        let mut x = self.middle(x, about);
        for (index, (block, out)) in self.resolutions().rev() {
            // `UNet2DConditionModel` builds each of its up blocks with one more layer.
            for _ in 0..=block.layers {
                // As many were kept as there are layers.
                let beside = kept.pop().unwrap_or_else(|| x.clone());
                let both = x.dims()[1].saturating_add(beside.dims()[1]);
                let joined = cat(vec![x, beside], 1);
                x = self.layer([both, *out], joined, about);
                x = block.attend(block.attends[1], *out, x, &about.texts);
            }
            if index > 0 {
                // The next resolution may be odd: twice its half, rounded up or down, would not fit
                // beside it.
                let size = kept.last().map(|next| [next.dims()[2], next.dims()[3]]);
                x = doubled(*out, size, x);
            }
        }
        x
    }

    fn resolutions(
        &self,
    ) -> impl DoubleEndedIterator<Item = (usize, (&ResolutionSizes, &u64))> + ExactSizeIterator
    {
        self.blocks.iter().zip(&self.widths).enumerate()
    }

    /// Down to the lowest resolution; the output of every layer is `kept`.
    fn down(
        &self,
        mut x: AllocatedTensor,
        about: &Condition,
        kept: &mut Vec<AllocatedTensor>,
    ) -> AllocatedTensor {
        let last = self.widths.len() - 1;
        let mut inner = self.widths[0];
        for (index, (block, out)) in self.resolutions() {
            for _ in 0..block.layers {
                x = self.layer([inner, *out], x, about);
                x = block.attend(block.attends[0], *out, x, &about.texts);
                kept.push(x.clone());
                inner = *out;
            }
            if index < last {
                x = halved(*out, self.padding, x);
                kept.push(x.clone());
            }
        }
        x
    }

    fn layer(&self, channels: [u64; 2], x: AllocatedTensor, about: &Condition) -> AllocatedTensor {
        self.residual.forward(channels, x, Some(&about.time))
    }

    fn middle(&self, x: AllocatedTensor, about: &Condition) -> AllocatedTensor {
        let last = self.widths.len() - 1;
        let width = self.widths[last];
        let x = self.layer([width; 2], x, about);
        let x = self.blocks[last].attend(true, width, x, &about.texts);
        self.layer([width; 2], x, about)
    }
}

/// The time, [batch, time], and the texts, [batch, tokens, width], that a denoiser reads.
struct Condition {
    time: AllocatedTensor,
    texts: AllocatedTensor,
}

fn blocks(
    config: &CompleteConfig,
    count: usize,
    limit: u64,
) -> Result<Vec<ResolutionSizes>, EstimateError> {
    let each = |field| config.size_of_each(field, count);
    let layers = each("layers_per_block")?;
    let (heads, depths) = (
        // diffusers takes this field as the number of heads.
        each("attention_head_dim")?,
        each("transformer_layers_per_block")?,
    );
    let conditions = each("cross_attention_dim")?;
    if layers.iter().chain(&depths).any(|number| *number > limit) {
        let expected = "at most the number of tensors of the checkpoint";
        return Err(config.wrong("layers_per_block", expected));
    }
    let linear = config.flag("use_linear_projection");
    let (down, up) = (
        config.texts("down_block_types"),
        config.texts("up_block_types"),
    );
    let blocks = (0..count).map(|index| ResolutionSizes {
        layers: layers[index],
        // The blocks on the way up are listed from the lowest resolution on.
        attends: [attends(down.get(index)), attends(up.get(count - 1 - index))],
        heads: heads[index],
        depth: depths[index],
        condition: conditions[index],
        linear,
    });
    Ok(blocks.collect())
}

/// Whether a block of this type attends to the condition.
fn attends(kind: Option<&&str>) -> bool {
    kind.is_some_and(|kind| kind.starts_with("CrossAttn"))
}

impl ResolutionSizes {
    /// A transformer over the pixels of [batch, channels, height, width], which also reads the
    /// condition.
    fn attend(
        &self,
        attends: bool,
        channels: u64,
        x: AllocatedTensor,
        condition: &AllocatedTensor,
    ) -> AllocatedTensor {
        if !attends {
            return x;
        }
        let [batch, _, height, breadth] = [0, 1, 2, 3].map(|index| x.dims()[index]);
        let places = [batch, height.saturating_mul(breadth), channels];
        let rows = |x: AllocatedTensor| x.permute(&[0, 2, 3, 1]).reshape(&places);
        let image = |x: AllocatedTensor| {
            x.reshape(&[batch, height, breadth, channels])
                .permute(&[0, 3, 1, 2])
        };
        let square = ProjectionMatrix::linear(channels, channels, true);
        let pixels = same_size([channels; 2], 1);
        // The number of groups has no effect on memory.
        let normal = x.clone().group_norm(1);
        let mut hidden = match self.linear {
            true => square.forward(rows(normal)),
            false => rows(pixels.forward(normal)),
        };
        for _ in 0..self.depth {
            hidden = self.transform(hidden, condition);
        }
        let out = match self.linear {
            true => image(square.forward(hidden)),
            false => pixels.forward(image(hidden)),
        };
        out.combine(x)
    }

    fn transform(&self, x: AllocatedTensor, condition: &AllocatedTensor) -> AllocatedTensor {
        let width = x.dims()[2];
        let own = Attention::new(width, self.heads, false);
        let x = x.clone().combine(own.forward(x.layer_norm(), None));
        let x = x.clone().combine(self.cross(x.layer_norm(), condition));
        let inner = WIDER * width;
        let both = ProjectionMatrix::linear(width, 2 * inner, true).forward(x.clone().layer_norm());
        let gate = both.clone().narrow(2, inner, inner);
        let gate = gate.activate(ActivationMemory::named("gelu"));
        let gated = both.narrow(2, 0, inner).combine(gate);
        x.combine(ProjectionMatrix::linear(inner, width, true).forward(gated))
    }

    /// Attention of the pixels to the condition.
    fn cross(&self, x: AllocatedTensor, condition: &AllocatedTensor) -> AllocatedTensor {
        let width = x.dims()[2];
        let project = |x: AllocatedTensor| {
            let matrix = ProjectionMatrix::linear(x.dims()[2], width, false);
            split_heads(matrix.forward(x), self.heads)
        };
        let query = project(x);
        let [key, value] = [(); 2].map(|()| project(condition.clone()));
        let attended = attend(query, KeyValueTensors { key, value }, false, None);
        ProjectionMatrix::linear(width, width, true).forward(attended)
    }
}

/// The factor by which the MLP of a transformer is wider.
const WIDER: u64 = 4;

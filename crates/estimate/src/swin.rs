//! Swin: attention within windows of an image, which every other layer shifts.

use crate::{
    call::NetworkCall,
    convolution::{ImageConvolution, between_zeros},
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, ElementType, empty, weight},
};
use testgen_types::Head;

/// Reads a batch of images.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let depths = config.sizes("depths")?;
    let heads = config.size_of_each("num_heads", depths.len())?;
    if depths.len() > DEEPEST || depths.iter().any(|depth| *depth > call.limit) {
        return Err(config.wrong("depths", "at most the number of tensors of the checkpoint"));
    }
    let mut width = config.size("embed_dim")?;
    let mut map = embed(call, width)?;
    let last = depths.len() - 1;
    for (stage, (depth, heads)) in depths.into_iter().zip(heads).enumerate() {
        for index in 0..depth {
            let layer = WindowLayer::read(call, [width, heads], index % 2 == 1)?;
            // The model refuses such an image.
            if map.rows.min(map.columns) < layer.window {
                return Err(config.wrong("window_size", "at most a side of the smallest map"));
            }
            map = layer.forward(map);
        }
        if stage < last {
            map = merged(map, width);
            width *= 2;
        }
    }
    outputs(call, map.places.layer_norm(), width);
    Ok(())
}

/// Each stage doubles the width, which must not overflow.
const DEEPEST: usize = 16;

/// The places of an image, [batch, rows * columns, width].
struct ImagePlaces {
    places: AllocatedTensor,
    rows: u64,
    columns: u64,
}

impl ImagePlaces {
    /// [batch, rows, columns, width].
    fn image(&self, places: AllocatedTensor) -> AllocatedTensor {
        let [batch, width] = [0, 2].map(|index| places.dims()[index]);
        places.reshape(&[batch, self.rows, self.columns, width])
    }
}

fn embed(call: &NetworkCall<'_>, width: u64) -> Result<ImagePlaces, EstimateError> {
    let config = call.config;
    let (channels, patch) = (config.size("num_channels")?, config.sides("patch_size")?);
    let [height, breadth] = call.images;
    let pixels = call.floats(&[call.batch, channels, height, breadth]);
    let pixels = filled_up(filled_up(pixels, 2, patch[0]), 3, patch[1]);
    let patches = ImageConvolution::patches([channels, width], patch).forward(pixels);
    let [batch, _, rows, columns] = [0, 1, 2, 3].map(|index| patches.dims()[index]);
    let count = rows.saturating_mul(columns);
    let places = patches.reshape(&[batch, width, count]).swap(1, 2);
    let mut places = places.layer_norm();
    if config.flag("use_absolute_embeddings") {
        places = places.combine(call.weight(&[1, count, width]));
    }
    Ok(ImagePlaces {
        places,
        rows,
        columns,
    })
}

/// Four neighbours become one place of twice the width.
fn merged(map: ImagePlaces, width: u64) -> ImagePlaces {
    let image = map.image(map.places.clone());
    let x = filled_up(filled_up(image, 1, 2), 2, 2);
    let [batch, rows, columns] = [x.dims()[0], x.dims()[1] / 2, x.dims()[2] / 2];
    let neighbours = x
        .reshape(&[batch, rows, 2, columns, 2, width])
        .permute(&[0, 1, 3, 4, 2, 5])
        .reshape(&[batch, rows.saturating_mul(columns), 4 * width]);
    let reduction = ProjectionMatrix::linear(4 * width, 2 * width, false);
    let _held = map.places.held_on_host();
    let places = reduction.forward(neighbours.layer_norm());
    ImagePlaces {
        places,
        rows,
        columns,
    }
}

/// A layer of attention and an MLP, which normalises before both.
struct WindowLayer {
    attention: Attention,
    mlp: MlpKind,
    window: u64,
    shift: u64,
}

impl WindowLayer {
    fn read(
        call: &NetworkCall<'_>,
        [width, heads]: [u64; 2],
        shifted: bool,
    ) -> Result<Self, EstimateError> {
        let config = call.config;
        let activation = ActivationMemory::named(config.text("hidden_act"));
        let window = config.size("window_size")?;
        let ratio = config
            .number("mlp_ratio")
            .filter(|ratio| (0.0..1000.0).contains(ratio))
            .ok_or_else(|| config.wrong("mlp_ratio", "a ratio below 1000"))?;
        // Cut off, as Python's `int` does.
        let inner = (width as f64 * ratio) as u64;
        Ok(Self {
            attention: Attention::new(width, heads, config.flag("qkv_bias")),
            mlp: MlpKind::plain([width, inner], activation, true),
            window,
            shift: if shifted { window / 2 } else { 0 },
        })
    }

    fn forward(&self, map: ImagePlaces) -> ImagePlaces {
        let y = map.places.clone().combine(self.attend(&map));
        let _held = map.places.held_on_host();
        ImagePlaces {
            places: y.clone().combine(self.mlp.forward(y.layer_norm())),
            ..map
        }
    }

    fn attend(&self, map: &ImagePlaces) -> AllocatedTensor {
        // A single window has no neighbours to exchange with.
        let shift = if map.rows.min(map.columns) == self.window {
            0
        } else {
            self.shift
        };
        let normal = map.image(map.places.clone().layer_norm());
        let _held = normal.clone().held_on_host();
        let image = filled_up(filled_up(normal, 1, self.window), 2, self.window);
        let [batch, height, length, width] = [0, 1, 2, 3].map(|index| image.dims()[index]);
        let windows = self.split(rolled(rolled(image, 1, shift), 2, shift));
        let bias = self.bias(&windows, batch, shift);
        let windows = self.attention.forward(windows, Some(bias));
        let (down, across, side) = (height / self.window, length / self.window, self.window);
        let image = windows
            .reshape(&[batch, down, across, side, side, width])
            .permute(&[0, 1, 3, 2, 4, 5])
            .reshape(&[batch, height, length, width]);
        // The rest of the way round puts every row and column back.
        let image = rolled(rolled(image, 1, height - shift), 2, length - shift);
        let image = image.narrow(1, 0, map.rows).narrow(2, 0, map.columns);
        image.reshape(&[batch, map.rows.saturating_mul(map.columns), width])
    }

    /// [batch * windows, window², width].
    fn split(&self, image: AllocatedTensor) -> AllocatedTensor {
        let [batch, height, length, width] = [0, 1, 2, 3].map(|index| image.dims()[index]);
        let (down, across, side) = (height / self.window, length / self.window, self.window);
        let count = batch.saturating_mul(down).saturating_mul(across);
        image
            .reshape(&[batch, down, side, across, side, width])
            .permute(&[0, 1, 3, 2, 4, 5])
            .reshape(&[count, side * side, width])
    }

    /// Of distances, and of borders for every window of every image if windows are shifted.
    fn bias(&self, windows: &AllocatedTensor, batch: u64, shift: u64) -> AllocatedTensor {
        let (machine, area) = (windows.machine().clone(), self.window * self.window);
        let heads = self.attention.heads;
        let distances = weight(&machine, &[1, heads, area, area], ElementType::F32);
        if shift == 0 {
            return distances;
        }
        let count = windows.dims()[0] / batch.max(1);
        let borders = empty(&machine, &[count, 1, area, area], ElementType::F32);
        let both = distances.combine(borders);
        if batch == 1 {
            return both;
        }
        // Repeated for each image.
        let dims = [windows.dims()[0], heads, area, area];
        empty(&machine, &dims, both.element)
    }
}

/// `x` with zeros after it, up to a multiple of `part` in `dimension`.
fn filled_up(x: AllocatedTensor, dimension: usize, part: u64) -> AllocatedTensor {
    let missing = x.dims()[dimension].next_multiple_of(part) - x.dims()[dimension];
    between_zeros(x, dimension, 0, missing)
}

/// `x` with its first `shift` entries after the others.
fn rolled(x: AllocatedTensor, dimension: usize, shift: u64) -> AllocatedTensor {
    let length = x.dims()[dimension];
    match shift % length {
        0 => x,
        shift => {
            let front = x.clone().narrow(dimension, 0, shift);
            let back = x.narrow(dimension, shift, length - shift);
            cat(vec![back, front], dimension)
        }
    }
}

/// The scores of the labels, or the places and their mean.
fn outputs(call: &mut NetworkCall<'_>, last: AllocatedTensor, width: u64) {
    let batch = call.batch;
    let pooled = last.clone().mean(1).reshape(&[batch, width]);
    if call.head == Head::ImageClassification {
        drop(last);
        let scores = ProjectionMatrix::linear(width, call.labels, true).forward(pooled);
        call.output(scores);
        return;
    }
    call.output(last);
    call.output(pooled);
}

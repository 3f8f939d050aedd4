//! The encoding of positions in the image for DETR: sines and cosines computed from the mask, or
//! tables for rows and columns.

use burn_tensor::Tensor;
use std::f64::consts::TAU;
use testgen_nn::{
    array::Array,
    backend::Ops,
    forward::ForwardError,
    inputs::{Inputs, wrong_input},
    weights::{Weights, WeightsError},
};

pub(crate) enum DetrPositions<B: Ops> {
    /// For this width.
    Sine(usize),
    /// [50, width / 2] for rows and for columns.
    Learned {
        rows: Tensor<B, 2>,
        columns: Tensor<B, 2>,
    },
}

/// The rows of a learned table.
// The rows of `DetrLearnedPositionEmbedding`, which no configuration changes.
const LONGEST: usize = 50;
/// `temperature` of transformers' `DetrSinePositionEmbedding`, which no configuration changes.
const TEMPERATURE: f64 = 10_000.0;
/// Added to the last position, by which all are divided.
// `eps` of `DetrSinePositionEmbedding`.
const EPS: f64 = 1e-6;

impl<B: Ops> DetrPositions<B> {
    pub(crate) fn load(learned: bool, width: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        if !learned {
            return Ok(Self::Sine(width));
        }
        let w = w.module_named(&["backbone.position_embedding", "position_embedding"]);
        // `DetrLearnedPositionEmbedding` has 50 rows in every model; no field says so.
        Ok(Self::Learned {
            rows: w.tensor("row_embeddings.weight", [LONGEST, width / 2])?,
            columns: w.tensor("column_embeddings.weight", [LONGEST, width / 2])?,
        })
    }

    /// The mask of the positions of a map of `size` that the `pixel_mask` shows, [batch, height,
    /// width] flat, taken from the nearest pixel, or `None` without a mask. `batch` is the
    /// number of images.
    pub(crate) fn shown(
        &self,
        batch: usize,
        size: [usize; 2],
        inputs: &Inputs<'_, B>,
    ) -> Result<Option<Vec<bool>>, ForwardError> {
        let Some(array) = inputs.host("pixel_mask") else {
            return Ok(None);
        };
        let (Some(mask), &[masks, height, width]) = (array.as_integers(), array.shape()) else {
            return Err(wrong_mask(batch, array));
        };
        // A mask without pixels has no nearest one.
        if masks != batch || height == 0 || width == 0 {
            return Err(wrong_mask(batch, array));
        }
        let places = (0..batch).flat_map(|row| (0..size[0] * size[1]).map(move |at| (row, at)));
        let shown = places.map(|(row, place)| {
            let (down, across) = (
                nearest(place / size[1], height, size[0]),
                nearest(place % size[1], width, size[1]),
            );
            mask[(row * height + down) * width + across] != 0
        });
        Ok(Some(shown.collect()))
    }

    /// [batch or 1, height * width, width].
    pub(crate) fn at(
        &self,
        size: [usize; 2],
        shown: Option<&[bool]>,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let [height, length] = size;
        match self {
            Self::Sine(width) => {
                let all = vec![true; height * length];
                let shown = shown.unwrap_or(&all);
                let values = shown
                    .chunks(height * length)
                    .flat_map(|shown| sines(size, shown, *width))
                    .collect();
                let batch = shown.len() / (height * length);
                Ok(inputs.put_floats(values, [batch, height * length, *width]))
            }
            Self::Learned { .. } if height.max(length) > LONGEST => Err(ForwardError::WrongInput {
                name: "pixel_values".to_owned(),
                found: format!("images with {height} rows and {length} columns of features"),
                expected: format!("at most {LONGEST}, for which positions were learned"),
            }),
            Self::Learned { rows, columns } => {
                let half = rows.dims()[1];
                let across = columns
                    .clone()
                    .narrow(0, 0, length)
                    .reshape([1, length, half]);
                let down = rows.clone().narrow(0, 0, height).reshape([height, 1, half]);
                // Columns first, unlike the sines: so does `DetrLearnedPositionEmbedding`.
                let both = vec![
                    across.expand([height, length, half]),
                    down.expand([height, length, half]),
                ];
                Ok(Tensor::cat(both, 2).reshape([1, height * length, 2 * half]))
            }
        }
    }
}

fn wrong_mask(batch: usize, mask: &Array) -> ForwardError {
    let expected = format!("integers of shape [{batch}, height, width]");
    wrong_input("pixel_mask", mask.shape(), expected)
}

/// The values [height * length, width] of one image: rows in the first half, columns in the second.
/// Places are counted over what is shown, and the last one of a row or column is at 2 pi.
fn sines([height, length]: [usize; 2], shown: &[bool], width: usize) -> Vec<f32> {
    let count = |places: &mut dyn Iterator<Item = usize>| {
        places.filter(|place| shown[*place]).count() as f64
    };
    let mut values = Vec::with_capacity(height * length * width);
    for (row, column) in (0..height).flat_map(|row| (0..length).map(move |column| (row, column))) {
        let down = |rows: usize| count(&mut (0..rows).map(|row| row * length + column));
        let across = |columns: usize| count(&mut (0..columns).map(|column| row * length + column));
        for at in [
            angle(down(row + 1), down(height)),
            angle(across(column + 1), across(length)),
        ] {
            let waves = (0..width / 2).map(|index| {
                // The sine and the cosine of a pair have the same frequency.
                let angle = at / TEMPERATURE.powf(2.0 * (index / 2) as f64 / (width / 2) as f64);
                (if index.is_multiple_of(2) {
                    angle.sin()
                } else {
                    angle.cos()
                }) as f32
            });
            values.extend(waves);
        }
    }
    values
}

fn nearest(index: usize, whole: usize, part: usize) -> usize {
    // In f32, as `interpolate` of PyTorch computes the nearest place.
    ((index as f32 * (whole as f32 / part as f32)).floor() as usize).min(whole - 1)
}

fn angle(own: f64, all: f64) -> f64 {
    own / (all + EPS) * TAU
}

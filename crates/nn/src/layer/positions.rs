//! Positions of tokens in the attention of a causal decoder, and the window of each layer.

use super::{
    Alibi, Rotary, Rotation,
    mask::{attention_mask, causal_bias},
};
use crate::{
    backend::Ops,
    forward::ForwardError,
    inputs::{Inputs, wrong_input},
    movable::Movable,
};
use burn_tensor::Tensor;

/// How attention receives the positions.
pub enum Positions {
    /// Nothing: they are in the embeddings.
    Embedded,
    /// Biases on the scores.
    Alibi(Alibi),
    /// Rotations of queries and keys.
    Rotary(Rotary),
}

impl Positions {
    /// The attention context of one call: `shape` [batch, seq] new tokens after `past` others.
    pub fn attention_context<'a, 'b, B: Ops>(
        &'a self,
        inputs: &Inputs<'b, B>,
        shape: [usize; 2],
        past: usize,
    ) -> Result<AttentionContext<'a, 'b, B>, ForwardError> {
        let rotation = match self {
            Self::Rotary(rotary) => {
                let (values, shape) = positions(inputs, shape, past)?;
                Some(rotary.at(&values, shape, inputs))
            }
            Self::Embedded | Self::Alibi(_) => None,
        };
        Ok(AttentionContext {
            positions: self,
            inputs: inputs.clone(),
            shape,
            past,
            rotation,
            biases: Vec::new(),
        })
    }

    /// The longest sequence for which steps with a cache equal the whole sequence at once, or
    /// `None` for any length.
    pub fn cacheable(&self) -> Option<usize> {
        match self {
            Self::Rotary(rotary) => rotary.cacheable(),
            Self::Embedded | Self::Alibi(_) => None,
        }
    }

    /// The length beyond which every key must be computed anew, once, or `None` if keys stay as
    /// they are.
    pub fn cache_reset_length(&self) -> Option<usize> {
        match self {
            Self::Rotary(rotary) => rotary.cache_reset_length(),
            Self::Embedded | Self::Alibi(_) => None,
        }
    }
}

/// The attention contexts of the layers in one call; each bias is computed once per window.
pub struct AttentionContext<'a, 'b, B: Ops> {
    positions: &'a Positions,
    inputs: Inputs<'b, B>,
    shape: [usize; 2],
    past: usize,
    rotation: Option<Rotation<B>>,
    biases: Vec<(Option<usize>, Option<Tensor<B, 4>>)>,
}

impl<B: Ops> Movable<B> for AttentionContext<'_, '_, B> {
    fn move_to(&mut self, device: &B::Device) {
        self.inputs.move_to(device);
        self.rotation.move_to(device);
        self.biases
            .iter_mut()
            .for_each(|(_, bias)| bias.move_to(device));
    }
}

/// The attention context of one layer.
pub struct LayerContext<'a, B: Ops> {
    /// Of its queries and keys.
    pub rotation: Option<&'a Rotation<B>>,
    /// On its scores, as [`attend`](super::attend) takes it.
    pub bias: Option<Tensor<B, 4>>,
}

impl<B: Ops> AttentionContext<'_, '_, B> {
    /// For a layer whose tokens see the last `window` ones; without a window every earlier one.
    pub fn layer(&mut self, window: Option<usize>) -> Result<LayerContext<'_, B>, ForwardError> {
        // A model has at most two windows, so that a list is enough.
        let made = self.biases.iter().find(|(made, _)| *made == window);
        let bias = match made {
            Some((_, bias)) => bias.clone(),
            None => {
                let bias = self.bias(window)?;
                self.biases.push((window, bias.clone()));
                bias
            }
        };
        Ok(LayerContext {
            rotation: self.rotation.as_ref(),
            bias,
        })
    }

    fn bias(&self, window: Option<usize>) -> Result<Option<Tensor<B, 4>>, ForwardError> {
        let causal = causal_bias(&self.inputs, self.shape, self.past, window)?;
        // ALiBi has a bias even where nothing is hidden.
        let Positions::Alibi(alibi) = self.positions else {
            return Ok(causal);
        };
        let linear = alibi.bias(&self.inputs, self.shape, self.past)?;
        Ok(Some(match causal {
            Some(causal) => linear + causal,
            None => linear,
        }))
    }
}

/// The positions [batch or 1, seq] of the tokens of this call: `position_ids`, else counted from
/// `past`.
pub fn positions<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, seq]: [usize; 2],
    past: usize,
) -> Result<(Vec<i64>, [usize; 2]), ForwardError> {
    let Some(array) = inputs.host("position_ids") else {
        return Ok((
            (past..past + seq).map(|position| position as i64).collect(),
            [1, seq],
        ));
    };
    match (array.as_integers(), array.shape()) {
        (Some(values), &[rows, columns]) if columns == seq && (rows == batch || rows == 1) => {
            Ok((values.to_vec(), [rows, columns]))
        }
        _ => Err(wrong_input(
            "position_ids",
            array.shape(),
            format!("integers of shape [{batch}, {seq}]"),
        )),
    }
}

/// As [`positions`], but counted over the visible tokens where an `attention_mask` hides some;
/// hidden ones have -1.
pub fn positions_without_padding<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, seq]: [usize; 2],
    past: usize,
) -> Result<(Vec<i64>, [usize; 2]), ForwardError> {
    let padding = attention_mask(inputs, "attention_mask", [batch, past + seq])?;
    let Some(visible) = padding.filter(|_| inputs.host("position_ids").is_none()) else {
        return positions(inputs, [batch, seq], past);
    };
    let rows = visible.chunks(past + seq).flat_map(|row| {
        let counted = row.iter().scan(0, |count, visible| {
            *count += i64::from(*visible);
            // `OPTDecoder` computes cumsum * mask - 1; its table has two rows before position 0, so
            // that -1 is a row, too.
            Some(if *visible { *count - 1 } else { -1 })
        });
        // Counted from the first token of the text, although only the new ones are returned.
        counted.skip(past).collect::<Vec<i64>>()
    });
    Ok((rows.collect(), [batch, seq]))
}

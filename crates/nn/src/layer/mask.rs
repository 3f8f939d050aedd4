//! The keys that a query attends to, as a bias on the scores.
//!
//! A hidden key gets the smallest f32, not minus infinity: a row that hides every key is then
//! uniform, as in transformers, instead of NaN. Whether a mask hides something is decided on the
//! host, so that one that hides nothing costs nothing; `band` makes the masks with all pairs.

use super::band::{HIDDEN, KeyBand, bias_of_key, put};
use crate::{
    backend::Ops,
    forward::ForwardError,
    inputs::{Inputs, wrong_input},
};
use burn_tensor::{DType, Tensor, TensorData};

/// The bias [batch, 1, 1, key] of an `attention_mask`, or `None` if it hides nothing.
pub fn padding_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, keys]: [usize; 2],
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    let Some(visible) = attention_mask(inputs, "attention_mask", [batch, keys])? else {
        return Ok(None);
    };
    Ok(key_bias(inputs, &visible, [batch, keys]))
}

/// The bias [batch, 1, 1, key] of keys that are `shown` or not, or `None` if all are.
pub fn key_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    shown: &[bool],
    [batch, keys]: [usize; 2],
) -> Option<Tensor<B, 4>> {
    shown.contains(&false).then(|| {
        let bias = shown.iter().map(|shown| bias_of_key(*shown)).collect();
        put(inputs, bias, [batch, 1, 1, keys])
    })
}

/// As [`padding_bias`], and a masked query sees nothing: [batch, 1, query, key].
pub fn pair_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, seq]: [usize; 2],
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    let Some(visible) = attention_mask(inputs, "attention_mask", [batch, seq])? else {
        return Ok(None);
    };
    let pairs = (0..batch).flat_map(|row| {
        (0..seq * seq).map(move |pair| [row * seq + pair / seq, row * seq + pair % seq])
    });
    let bias = pairs
        // `DebertaV2Encoder.get_attention_mask` multiplies the mask of keys by the mask of queries.
        .map(|[query, key]| bias_of_key(visible[query] && visible[key]))
        .collect();
    Ok(Some(put(inputs, bias, [batch, 1, seq, seq])))
}

/// The bias [batch or 1, 1, query, key] of attention to the keys at most `window` away on either
/// side. None when it hides nothing.
pub fn window_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, seq]: [usize; 2],
    window: usize,
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    let padding = attention_mask(inputs, "attention_mask", [batch, seq])?;
    // A band excludes its ends, and the key at the distance `window` is still seen.
    let reach = window.saturating_add(1);
    // Every token is within the window of every other one.
    if padding.is_none() && seq <= reach {
        return Ok(None);
    }
    let band = KeyBand {
        past: 0,
        queries: seq,
        before: reach,
        after: reach,
    };
    Ok(Some(band.bias(inputs, batch, padding.as_deref())))
}

/// 1 for each token that the `attention_mask` shows, else 0, f32, [batch, seq, 1], or `None` if it
/// hides nothing.
pub fn padding_factor<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, seq]: [usize; 2],
) -> Result<Option<Tensor<B, 3>>, ForwardError> {
    let Some(visible) = attention_mask(inputs, "attention_mask", [batch, seq])? else {
        return Ok(None);
    };
    let factors: Vec<f32> = visible
        .into_iter()
        .map(|visible| if visible { 1.0 } else { 0.0 })
        .collect();
    Ok(Some(Tensor::from_data(
        TensorData::new(factors, [batch, seq, 1]),
        (inputs.device(), DType::F32),
    )))
}

/// The mean [batch, width] over the tokens of `x` [batch, seq, width] that the `attention_mask`
/// shows; summed in f32.
pub fn masked_mean<B: Ops>(
    x: Tensor<B, 3>,
    inputs: &Inputs<'_, B>,
) -> Result<Tensor<B, 2>, ForwardError> {
    let ([batch, seq, width], dtype) = (x.dims(), x.dtype());
    let x = x.cast(DType::F32);
    let mean = match padding_factor(inputs, [batch, seq])? {
        Some(factor) => (x * factor.clone()).sum_dim(1) / factor.sum_dim(1),
        None => x.mean_dim(1),
    };
    Ok(mean.reshape([batch, width]).cast(dtype))
}

/// The bias [batch, 1, 1, key] of rows of which the first `real` keys count, or `None` if it hides
/// nothing.
pub fn length_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    real: &[usize],
    keys: usize,
) -> Option<Tensor<B, 4>> {
    let hides = real.iter().any(|real| *real < keys);
    hides.then(|| {
        put(
            inputs,
            real.iter()
                .flat_map(|real| {
                    (0..keys)
                        .map(|key| if key < *real { 0.0 } else { HIDDEN })
                        .collect::<Vec<f32>>()
                })
                .collect(),
            [real.len(), 1, 1, keys],
        )
    })
}

/// The bias [batch or 1, 1, query, key] of causal attention after `past` tokens, within `window`
/// tokens where there is one: a query sees itself and the `window - 1` tokens before it. None when
/// it hides nothing.
pub fn causal_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    shape: [usize; 2],
    past: usize,
    window: Option<usize>,
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    masked_causal_bias(inputs, "attention_mask", shape, past, window)
}

/// As [`causal_bias`], for the decoder of an encoder-decoder.
pub fn decoder_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    shape: [usize; 2],
    past: usize,
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    masked_causal_bias(inputs, "decoder_attention_mask", shape, past, None)
}

fn masked_causal_bias<B: Ops>(
    inputs: &Inputs<'_, B>,
    mask: &str,
    [batch, queries]: [usize; 2],
    past: usize,
    window: Option<usize>,
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    let keys = past + queries;
    let padding = attention_mask(inputs, mask, [batch, keys])?;
    // Fewer than `keys` places before any query, so this hides no key.
    let window = window.unwrap_or(keys);
    // A single new token sees every key, which is each step of a generation without padding.
    if padding.is_none() && queries == 1 && keys <= window {
        return Ok(None);
    }
    let band = KeyBand {
        past,
        queries,
        before: window,
        after: 1,
    };
    Ok(Some(band.bias(inputs, batch, padding.as_deref())))
}

/// 1 for each token of this call [batch, seq, 1] and 0 for padding, in the model's type, or `None`
/// if no token is padding.
pub fn visible_tokens<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, seq]: [usize; 2],
    past: usize,
) -> Result<Option<Tensor<B, 3>>, ForwardError> {
    let Some(visible) = attention_mask(inputs, "attention_mask", [batch, past + seq])? else {
        return Ok(None);
    };
    let new = visible
        .chunks(past + seq)
        .flat_map(|row| &row[past..])
        .map(|visible| f32::from(u8::from(*visible)));
    Ok(Some(inputs.put_floats(new.collect(), [batch, seq, 1])))
}

/// Whether each of [batch, key] is visible, or `None` if all are.
pub(super) fn attention_mask<B: Ops>(
    inputs: &Inputs<'_, B>,
    name: &str,
    shape: [usize; 2],
) -> Result<Option<Vec<bool>>, ForwardError> {
    let Some(array) = inputs.host(name) else {
        return Ok(None);
    };
    let values = array.as_integers().filter(|_| array.shape() == shape);
    let values = values
        .ok_or_else(|| wrong_input(name, array.shape(), format!("integers of shape {shape:?}")))?;
    let hides = values.contains(&0);
    Ok(hides.then(|| values.iter().map(|value| *value != 0).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{array::Arrays, backend::Cpu};

    #[test]
    fn a_window_as_wide_as_any_text_hides_nothing() {
        let arrays = Arrays::new();
        let inputs = Inputs::<Cpu>::new(&arrays, &Default::default(), DType::F32);
        for window in [3, usize::MAX] {
            let bias = window_bias(&inputs, [1, 4], window);
            assert!(bias.expect("without a mask").is_none(), "{window}");
        }
        let bias = window_bias(&inputs, [1, 4], 2).expect("without a mask");
        assert!(bias.is_some());
    }
}

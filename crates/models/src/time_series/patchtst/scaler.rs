//! The unit of a series: every channel is scaled by what was observed of it.

use burn_tensor::{DType, Tensor};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;
use testgen_nn::{
    array::{Array, Values},
    backend::Ops,
    forward::ForwardError,
    inputs::Inputs,
};

/// The field `scaling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scaler {
    /// Divided by the mean of the absolute values: `PatchTSTMeanScaler`.
    Mean,
    /// Less the mean, divided by the standard deviation: `PatchTSTStdScaler`.
    Std,
    /// As it is.
    Off,
}

impl<'de> Deserialize<'de> for Scaler {
    /// A word, or true for the mean.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == "mean" => Ok(Self::Mean),
            Value::String(word) if word == "std" => Ok(Self::Std),
            Value::Bool(true) => Ok(Self::Mean),
            Value::Null | Value::Bool(false) => Ok(Self::Off),
            other => Err(D::Error::custom(format!(
                "`scaling` is {other}, expected \"mean\", \"std\", true or null"
            ))),
        }
    }
}

/// A series [batch, time, channels] in its own unit, and the unit [batch, 1, channels].
pub(super) struct Scaled<B: Ops> {
    pub(super) values: Tensor<B, 3>,
    pub(super) loc: Tensor<B, 3>,
    pub(super) scale: Tensor<B, 3>,
}

/// `minimum_scale` of transformers' `PatchTSTStdScaler`, which is added to the variance.
const SMALLEST_VARIANCE: f64 = 1e-5;
/// `minimum_scale` of transformers' `PatchTSTMeanScaler`, the least scale.
const SMALLEST_MEAN: f64 = 1e-10;

impl Scaler {
    /// `observed` is 1 for a value that was seen, else 0.
    pub(super) fn apply<B: Ops>(
        self,
        series: Tensor<B, 3>,
        observed: Option<Tensor<B, 3>>,
    ) -> Scaled<B> {
        let dtype = series.dtype();
        // In f32, and rounded once.
        let x = series.cast(DType::F32);
        // Without a mask everything was observed.
        let observed = observed.unwrap_or_else(|| x.zeros_like() + 1.0);
        let count = over_time(observed.clone());
        let SeriesScale { loc, scale } = match self {
            Self::Off => SeriesScale {
                loc: count.zeros_like(),
                scale: count.zeros_like() + 1.0,
            },
            Self::Mean => SeriesScale {
                loc: count.zeros_like(),
                scale: mean_scale(&x, &observed, count),
            },
            Self::Std => std_unit(&x, &observed, count),
        };
        let values = (x - loc.clone()) / scale.clone();
        Scaled {
            values: values.cast(dtype),
            loc: loc.cast(dtype),
            scale: scale.cast(dtype),
        }
    }
}

/// The offset and the divisor of a series, [batch, 1, channels] each.
struct SeriesScale<B: Ops> {
    loc: Tensor<B, 3>,
    scale: Tensor<B, 3>,
}

fn std_unit<B: Ops>(
    x: &Tensor<B, 3>,
    observed: &Tensor<B, 3>,
    count: Tensor<B, 3>,
) -> SeriesScale<B> {
    // A channel without observations gets the mean 0 and not 0 / 0.
    let count = count.clamp_min(1.0);
    let loc = over_time(x.clone() * observed.clone()) / count.clone();
    let difference = (x.clone() - loc.clone()) * observed.clone();
    let variance = over_time(difference.clone() * difference) / count;
    SeriesScale {
        loc,
        scale: (variance + SMALLEST_VARIANCE).sqrt(),
    }
}

/// The sums [batch, 1, channels] over time.
fn over_time<B: Ops>(x: Tensor<B, 3>) -> Tensor<B, 3> {
    // As the last dimension, where the sum has many parts and a small error.
    x.swap_dims(1, 2).sum_dim(2).swap_dims(1, 2)
}

/// A channel of which nothing was observed takes the mean of its channel in the batch.
fn mean_scale<B: Ops>(
    x: &Tensor<B, 3>,
    observed: &Tensor<B, 3>,
    count: Tensor<B, 3>,
) -> Tensor<B, 3> {
    let sum = over_time((x.clone() * observed.clone()).abs());
    let own = sum.clone() / count.clone().clamp_min(1.0);
    let batch = sum.sum_dim(0) / count.clone().sum_dim(0).clamp_min(1.0);
    // Selected and not blended: 0 times the batch's mean is NaN if another series is not finite.
    let scale = own
        .clone()
        .mask_where(count.equal_elem(0.0), batch.expand(own.dims()));
    // Not `clamp_min`, which in burn-flex 0.21 makes the limit of NaN.
    scale.clamp(SMALLEST_MEAN, f64::INFINITY)
}

/// `past_observed_mask` [batch, time, channels] in f32, where there is one.
pub(super) fn observed<B: Ops>(
    inputs: &Inputs<'_, B>,
) -> Result<Option<Tensor<B, 3>>, ForwardError> {
    let Some(mask) = inputs.host("past_observed_mask") else {
        return Ok(None);
    };
    let same = inputs
        .host("past_values")
        .is_some_and(|values| values.shape() == mask.shape());
    let shape: [usize; 3] = mask.shape().try_into().map_err(|_| wrong_mask(mask))?;
    let values = match mask.values() {
        Values::I64(values) if same => values
            .iter()
            .map(|value| if *value == 0 { 0.0 } else { 1.0 })
            .collect(),
        Values::F32(values) if same => values
            .iter()
            .map(|value| if *value == 0.0 { 0.0 } else { 1.0 })
            .collect(),
        _ => return Err(wrong_mask(mask)),
    };
    // Zeros and ones are exact in every type.
    Ok(Some(inputs.put_floats::<3>(values, shape).cast(DType::F32)))
}

fn wrong_mask(mask: &Array) -> ForwardError {
    ForwardError::WrongInput {
        name: "past_observed_mask".to_owned(),
        found: format!("a tensor of shape {:?}", mask.shape()),
        expected: "zeros and ones of the shape of `past_values`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Scaler;
    use burn_tensor::{Tensor, TensorData};
    use testgen_nn::backend::Cpu;

    fn series(values: [f32; 6]) -> Tensor<Cpu, 3> {
        Tensor::from_data(
            TensorData::new(values.to_vec(), [3, 2, 1]),
            &Default::default(),
        )
    }

    #[test]
    fn a_series_that_is_not_finite_changes_no_observed_one() {
        let observed = series([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
        for wrong in [f32::NAN, f32::INFINITY] {
            let values = series([1.0, 3.0, wrong, 1.0, 5.0, 5.0]);
            let scaled = Scaler::Mean.apply(values, Some(observed.clone()));
            let scale: Vec<f32> = scaled.scale.into_data().to_vec().expect("floats");
            assert_eq!(scale[0], 2.0);
            // The mean of the batch, which is not finite.
            assert!(!scale[1].is_finite() && !scale[2].is_finite(), "{scale:?}");
        }
    }
}

//! The heads of patches: a forecast, classes or numbers.

use super::config::{PatchTstConfig, Pool};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

pub(super) struct SeriesHead<B: Ops> {
    projection: Linear<B>,
    read: Read,
    kind: Kind,
}

/// How a channel is pooled.
#[derive(Clone, Copy)]
enum Read {
    ClassToken,
    Pooled(Pool),
    AllPatches,
}

#[derive(Clone, Copy)]
enum Kind {
    Forecast,
    Logits,
    /// Bounded by a sigmoid where there is a range.
    Regression(Option<[f32; 2]>),
}

/// The output of a head.
pub(super) enum Output<B: Ops> {
    /// [batch, prediction_length, channels], in the unit of the scaler.
    Forecast(Tensor<B, 3>),
    /// [batch, classes].
    Logits(Tensor<B, 2>),
    /// [batch, targets].
    Regression(Tensor<B, 2>),
}

impl<B: Ops> SeriesHead<B> {
    pub(super) fn load(config: &PatchTstConfig, head: Head, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, all) = (config.d_model, config.num_input_channels * config.d_model);
        let read = match config.pooling_type {
            _ if config.use_cls_token => Read::ClassToken,
            Some(pool) => Read::Pooled(pool),
            None => Read::AllPatches,
        };
        let projection = |inner, out| Linear::load(&w.module("projection"), inner, out);
        let (projection, kind) = match head {
            Head::Prediction => {
                let inner = if config.pooled() { width } else { width * config.patches() };
                (projection(inner, config.prediction_length)?, Kind::Forecast)
            }
            Head::Regression => (projection(all, config.num_targets)?, Kind::Regression(config.output_range)),
            _ => (Linear::load(&w.module("linear"), all, config.num_targets)?, Kind::Logits),
        };
        Ok(Self { projection, read, kind })
    }

    /// Of [batch, channels, positions, width].
    pub(super) fn forward(&self, hidden: Tensor<B, 4>) -> Output<B> {
        let [batch, channels, places, width] = hidden.dims();
        let read = match self.read {
            Read::ClassToken => hidden.narrow(2, 0, 1).reshape([batch, channels, width]),
            Read::Pooled(Pool::Mean) => hidden.mean_dim(2).reshape([batch, channels, width]),
            Read::Pooled(Pool::Max) => hidden.max_dim(2).reshape([batch, channels, width]),
            Read::AllPatches => hidden.reshape([batch, channels, places * width]),
        };
        match self.kind {
            Kind::Forecast => Output::Forecast(self.projection.forward(read).swap_dims(1, 2)),
            Kind::Logits => Output::Logits(self.of_all_channels(read)),
            Kind::Regression(None) => Output::Regression(self.of_all_channels(read)),
            Kind::Regression(Some([low, high])) => {
                let share = activate(self.of_all_channels(read), Activation::Sigmoid);
                Output::Regression(share * (high - low) + low)
            }
        }
    }

    fn of_all_channels(&self, read: Tensor<B, 3>) -> Tensor<B, 2> {
        let [batch, channels, width] = read.dims();
        self.projection.forward(read.reshape([batch, channels * width]))
    }
}

//! A loaded model that burn computes.

use crate::{
    bound_model::BoundModel, capabilities::Capabilities, decode_session::DecodeSession,
    erased_model::ErasedModel,
};
use testgen_nn::{
    array::Arrays,
    backend::{Ops, time_calls},
    cache::Cache,
    context::ForwardContext,
    forward::{Forward, ForwardError, Session, Unsupported},
    timing::{CallTimes, CallsByShape, LayerTimes, TimedCall, milliseconds, step_after},
    weights::Residency,
};
use testgen_types::Repetitions;

impl<B: Ops> ErasedModel for BoundModel<B> {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        self.call(inputs, traced, None)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        Ok(DecodeSession::new(self).map(|session| Box::new(session) as _))
    }

    fn capabilities(&self) -> Capabilities {
        *BoundModel::capabilities(self)
    }

    fn time(
        &self,
        call: TimedCall<'_>,
        repetitions: Repetitions,
    ) -> Result<CallTimes, ForwardError> {
        match call {
            TimedCall::Forward(inputs) => {
                let calls = repetitions.measure(|| milliseconds(|| self.compute_alone(inputs)))?;
                Ok(CallTimes {
                    calls,
                    steps: Vec::new(),
                })
            }
            TimedCall::Decode { prompt, steps } => {
                let sequence = || self.time_sequence(prompt, steps);
                let sequences = repetitions.measure_counted(|(_, steps)| steps.len(), sequence)?;
                let (calls, steps): (Vec<f64>, Vec<Vec<f64>>) = sequences.into_iter().unzip();
                Ok(CallTimes {
                    calls,
                    steps: steps.concat(),
                })
            }
        }
    }

    fn time_layers(
        &self,
        inputs: &Arrays,
        repetitions: Repetitions,
    ) -> Result<Option<Vec<LayerTimes>>, ForwardError> {
        if self.residency() != Residency::Streamed {
            return Ok(None);
        }
        let times = repetitions.measure(|| {
            // Two calls: one loads and computes layers by turns, the other does both at once.
            let apart = self.layer_times(inputs, ForwardContext::apart())?;
            let beside = self.layer_times(inputs, ForwardContext::on_device(None))?;
            Ok::<_, ForwardError>(LayerTimes {
                together: beside.together,
                ..apart
            })
        });
        times.map(Some)
    }

    fn time_calls(
        &self,
        inputs: &Arrays,
        repetitions: Repetitions,
    ) -> Result<Option<Vec<CallsByShape>>, ForwardError> {
        let call = || {
            let (computed, times) = time_calls(|| self.compute_alone(inputs));
            computed.map(|()| times)
        };
        // Each shape is a row of the report; the longest row counts, because rows are limited.
        let most = |times: &CallsByShape| times.values().map(Vec::len).max().unwrap_or(0);
        repetitions.measure_counted(most, call).map(Some)
    }
}

impl<B: Ops> BoundModel<B> {
    /// One call without a cache, a trace or results on the host.
    fn compute_alone(&self, inputs: &Arrays) -> Result<(), ForwardError> {
        self.compute(inputs, &mut ForwardContext::on_device(None))
    }

    fn layer_times(
        &self,
        inputs: &Arrays,
        mut context: ForwardContext<'_, B>,
    ) -> Result<LayerTimes, ForwardError> {
        self.compute(inputs, &mut context)?;
        Ok(context.layer_times())
    }

    /// The milliseconds of a prompt and of each of the `steps` after it.
    fn time_sequence(&self, prompt: &Arrays, steps: u32) -> Result<(f64, Vec<f64>), ForwardError> {
        let Capabilities {
            token_input_name: name,
            cached_layers,
            ..
        } = *self.capabilities();
        let layers = cached_layers.ok_or_else(|| Unsupported("a key-value cache".to_owned()))?;
        let step = step_after(prompt, name).ok_or(ForwardError::MissingInput { name })?;
        let mut cache = Cache::new(layers);
        let mut advance = |inputs: &Arrays| {
            let mut context = ForwardContext::on_device(Some(&mut cache));
            let time = milliseconds(|| self.compute(inputs, &mut context))?;
            // The index cannot fail: `step_after` has found the argument.
            cache.advance(inputs[name].shape()[1]);
            Ok::<_, ForwardError>(time)
        };
        let first = advance(prompt)?;
        let steps: Result<_, _> = (0..steps).map(|_| advance(&step)).collect();
        Ok((first, steps?))
    }
}

//! The layers of a streamed stack: each is read and copied while the device computes the one before
//! it, and dropped when the device has computed it.

use super::step::LayerStep;
use crate::{
    backend::{Ops, put_beside},
    context::ForwardContext,
    forward::ForwardError,
    timing::LayerTimes,
    weights::{Weights, WeightsError},
};
use std::time::{Duration, Instant};

/// Loads the layer of an index from the tensors of the stack.
pub(super) type LoadLayer<B, L> = dyn Fn(usize, &Weights<B>) -> Result<L, WeightsError> + Send;

/// The layers of a stack in one call.
pub(super) struct LayerStream<'s, B: Ops, L> {
    pub(super) weights: &'s Weights<B>,
    pub(super) load: &'s LoadLayer<B, L>,
    /// Whether layers are loaded and computed by turns, to measure both.
    pub(super) is_apart: bool,
}

impl<B: Ops, L> LayerStream<'_, B, L> {
    /// Loads each layer while the device computes the one before it.
    pub(super) fn fold<'a, S, R>(
        &self,
        order: &[usize],
        context: &mut ForwardContext<'a, B>,
        mut state: S,
        shared: &mut R,
        mut step: impl FnMut(
            S,
            LayerStep<'_, L, R>,
            &mut ForwardContext<'a, B>,
        ) -> Result<S, ForwardError>,
    ) -> Result<S, ForwardError> {
        let (start, mut times) = (Instant::now(), LayerTimes::default());
        let mut loaded = None;
        for (depth, index) in order.iter().enumerate() {
            let layer = match loaded.take() {
                Some(layer) => layer,
                None => timed(&mut times.load, || self.load(*index))?,
            };
            state = timed(&mut times.compute, || {
                let at = LayerStep {
                    depth,
                    layer: &layer,
                    shared: &mut *shared,
                };
                let state = step(state, at, context)?;
                // The device computes after a step has returned, which would count as loading.
                if self.is_apart {
                    self.finish()?;
                }
                Ok::<_, ForwardError>(state)
            })?;
            let next = order.get(depth + 1);
            // A layer that is computed again stays.
            if next == Some(index) {
                loaded = Some(layer);
                continue;
            }
            if let Some(next) = next {
                loaded = Some(timed(&mut times.load, || self.load(*next))?);
            }
            // The memory of `layer` is another one's as soon as it is dropped.
            self.finish()?;
        }
        times.together = start.elapsed();
        context.add_layer_times(times);
        Ok(state)
    }

    fn load(&self, index: usize) -> Result<L, ForwardError> {
        put_beside::<B, _>(self.weights.device(), || {
            let layer = (self.load)(index, self.weights)?;
            if self.is_apart {
                self.finish()?;
            }
            Ok(layer)
        })
    }

    /// Returns when the device has done what the calling thread has started.
    fn finish(&self) -> Result<(), ForwardError> {
        B::sync(self.weights.device()).map_err(|error| ForwardError::Device {
            message: format!("{error:?}"),
        })
    }
}

/// Adds the duration of `run` to `time`.
fn timed<T>(time: &mut Duration, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    *time += start.elapsed();
    result
}

//! The layers of a model that are computed one after another: all of them on the device, split over
//! several, or streamed, so that the device holds two of them.
//!
//! While the device computes a streamed layer, the next one is read and copied; a layer is dropped
//! when the device has computed it. The tensors are those of a resident layer, so that the results
//! are the same bits. Of a split stack the hidden state moves to the device of the next layer, and
//! with it what all layers read.

mod step;
mod stream;

pub use step::LayerStep;

use crate::{
    backend::{Ops, put_beside},
    context::{ForwardContext, LayerSlot},
    forward::ForwardError,
    movable::Movable,
    weights::{Residency, Weights, WeightsError},
};
use burn_tensor::Tensor;
use stream::{LayerStream, LoadLayer};

/// The layers of a model that are computed one after another.
pub struct LayerStack<B: Ops, L> {
    /// The index of the layer at each depth.
    order: Vec<usize>,
    layers: Layers<B, L>,
}

enum Layers<B: Ops, L> {
    Loaded {
        /// The model's device, which has everything but the layers.
        home: B::Device,
        /// Each layer on its device, which is the model's if the layers are not split.
        layers: Vec<(B::Device, L)>,
    },
    Streamed {
        weights: Weights<B>,
        load: Box<LoadLayer<B, L>>,
    },
}

impl<B: Ops, L: 'static> LayerStack<B, L> {
    /// `count` layers; `load` gets the index of one, and its module below `w`.
    ///
    /// # Errors
    ///
    /// Any layer cannot be loaded, also when they are streamed.
    pub fn load(
        w: &Weights<B>,
        count: usize,
        load: impl Fn(usize, &Weights<B>) -> Result<L, WeightsError> + Send + 'static,
    ) -> Result<Self, WeightsError> {
        Self::load_in_order(w, (0..count).collect(), move |index, w| {
            load(index, &w.module(index))
        })
    }

    /// The layers with the indices of `order`, which are computed in that order; `load` gets the
    /// index of one, and `w`.
    pub fn load_in_order(
        w: &Weights<B>,
        order: Vec<usize>,
        load: impl Fn(usize, &Weights<B>) -> Result<L, WeightsError> + Send + 'static,
    ) -> Result<Self, WeightsError> {
        w.mark_stack();
        // A layer can be computed several times, as in ALBERT, and is loaded once.
        let count = order.iter().max().map_or(0, |last| last + 1);
        let layers = match w.residency() {
            Residency::Resident => Layers::loaded(w, count, 1, load)?,
            Residency::Split(devices) => Layers::loaded(w, count, devices, load)?,
            Residency::Streamed => {
                // As in a call, so that the device's memory for them is the same.
                (0..count).try_for_each(|index| {
                    put_beside::<B, _>(w.device(), || load(index, w)).map(drop)
                })?;
                Layers::Streamed {
                    weights: w.module(""),
                    load: Box::new(load),
                }
            }
        };
        Ok(Self { order, layers })
    }
}

impl<B: Ops, L> Layers<B, L> {
    /// `count` layers, an equal number of consecutive ones on each of `devices`.
    fn loaded(
        w: &Weights<B>,
        count: usize,
        devices: u16,
        load: impl Fn(usize, &Weights<B>) -> Result<L, WeightsError>,
    ) -> Result<Self, WeightsError> {
        Ok(Self::Loaded {
            home: w.device().clone(),
            layers: (0..count)
                .map(|index| {
                    // Consecutive layers share a device, so that the hidden state moves as rarely
                    // as possible.
                    let distance = index * usize::from(devices) / count;
                    let device = B::after(w.device(), distance as u16, devices);
                    Ok((device.clone(), load(index, &w.on(device))?))
                })
                .collect::<Result<_, _>>()?,
        })
    }
}

impl<B: Ops, L> LayerStack<B, L> {
    /// The number of layers that are computed.
    pub fn depth(&self) -> usize {
        self.order.len()
    }

    /// Runs `x` through the layers and then `finish`; `step` takes a layer, what it reads, the
    /// tensors that all layers read, and its place in the cache. Leaves the hidden state after each
    /// layer; as in transformers, the state of the last layer is stored after `finish`.
    pub fn run<'a, R: Movable<B>>(
        &self,
        context: &mut ForwardContext<'a, B>,
        x: Tensor<B, 3>,
        shared: &mut R,
        mut step: impl FnMut(
            &L,
            Tensor<B, 3>,
            &mut R,
            LayerSlot<'_, 'a, B>,
        ) -> Result<Tensor<B, 3>, ForwardError>,
        finish: impl FnOnce(Tensor<B, 3>) -> Tensor<B, 3>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let last = self.depth().saturating_sub(1);
        let x = self.fold(context, x, shared, |x, at, context| {
            let slot = LayerSlot {
                index: at.depth,
                context: &mut *context,
            };
            let x = step(at.layer, x, at.shared, slot)?;
            // The last state is stored after `finish`, as `hidden_states` of transformers ends with
            // the normalised one.
            if at.depth != last {
                context.trace_layer(at.depth, &x)?;
            }
            Ok(x)
        })?;
        let x = finish(x);
        context.trace_layer(last, &x)?;
        Ok(x)
    }

    /// Hands `state` through every layer; `step` gets it with the layer, and returns the next one.
    /// A step reads no tensors but its layer's, those of `state` and those of `shared`: it may be
    /// computed on another device than the model's. After the last layer both are there again.
    ///
    /// # Errors
    ///
    /// The error of a step; a streamed layer cannot be loaded.
    pub fn fold<'a, S: Movable<B>, R: Movable<B>>(
        &self,
        context: &mut ForwardContext<'a, B>,
        state: S,
        shared: &mut R,
        step: impl FnMut(S, LayerStep<'_, L, R>, &mut ForwardContext<'a, B>) -> Result<S, ForwardError>,
    ) -> Result<S, ForwardError> {
        self.fold_first(self.depth(), context, state, shared, step)
    }

    /// As [`LayerStack::fold`], through the first `count` layers.
    pub fn fold_first<'a, S: Movable<B>, R: Movable<B>>(
        &self,
        count: usize,
        context: &mut ForwardContext<'a, B>,
        mut state: S,
        shared: &mut R,
        mut step: impl FnMut(
            S,
            LayerStep<'_, L, R>,
            &mut ForwardContext<'a, B>,
        ) -> Result<S, ForwardError>,
    ) -> Result<S, ForwardError> {
        let order = &self.order[..count];
        match &self.layers {
            Layers::Loaded { home, layers } => {
                let mut place = home;
                for (depth, index) in order.iter().enumerate() {
                    let (device, layer) = &layers[*index];
                    move_between([place, device], &mut state, shared);
                    place = device;
                    let at = LayerStep {
                        depth,
                        layer,
                        shared: &mut *shared,
                    };
                    state = step(state, at, context)?;
                }
                move_between([place, home], &mut state, shared);
                Ok(state)
            }
            Layers::Streamed { weights, load } => {
                // Each call reads the files again: after a change the layers would be of two
                // checkpoints.
                weights.check_unchanged()?;
                let stream = LayerStream {
                    weights,
                    load: load.as_ref(),
                    is_apart: context.computes_apart(),
                };
                stream.fold(order, context, state, shared, step)
            }
        }
    }
}

/// Moves `state` and `shared` from one device to another, if it is another.
fn move_between<B: Ops>(
    [from, to]: [&B::Device; 2],
    state: &mut impl Movable<B>,
    shared: &mut impl Movable<B>,
) {
    if from != to {
        state.move_to(to);
        shared.move_to(to);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::LayerStack;
    use crate::{
        backend::Cpu,
        context::ForwardContext,
        forward::ForwardError,
        weights::{Residency, Weights, WeightsError},
    };
    use burn_tensor::DType;
    use safetensors::{Dtype, tensor::TensorView};
    use std::sync::{Arc, Mutex};

    /// Loads of a stack with the layers of `order`, whose values are their indices plus one: those
    /// when it was made, and those of one call; and the depths and values of the call.
    fn run(
        order: &[usize],
        residency: Residency,
        context: &mut ForwardContext<'_, Cpu>,
    ) -> ([Vec<usize>; 2], Vec<(usize, f32)>) {
        let directory = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (1..=3)
            .flat_map(|value| (value as f32).to_le_bytes())
            .collect();
        let views = (0..3).map(|layer| {
            let data = &bytes[4 * layer..4 * layer + 4];
            (
                format!("{layer}.weight"),
                TensorView::new(Dtype::F32, vec![1], data).unwrap(),
            )
        });
        let path = directory.path().join("model.safetensors");
        safetensors::serialize_to_file(views, None, &path).unwrap();
        let weights = Weights::<Cpu>::open(directory.path(), &Default::default(), DType::F32)
            .unwrap()
            .with_residency(residency);
        let loads = Arc::new(Mutex::new(Vec::new()));
        let stack = LayerStack::load_in_order(&weights, order.to_vec(), {
            let loads = Arc::clone(&loads);
            move |index, w| {
                loads.lock().unwrap().push(index);
                w.module(index).values("weight", &[1])
            }
        })
        .unwrap();
        assert!(weights.has_stack());
        let made = std::mem::take(&mut *loads.lock().unwrap());
        let mut seen = Vec::new();
        let folded = stack.fold(context, (), &mut (), |(), at, _| {
            seen.push((at.depth, at.layer[0]));
            Ok(())
        });
        folded.unwrap();
        let called = loads.lock().unwrap().clone();
        ([made, called], seen)
    }

    #[test]
    fn a_streamed_layer_is_loaded_once_in_a_row() {
        let order = [0, 0, 1, 0];
        let expected = [(0, 1.0), (1, 1.0), (2, 2.0), (3, 1.0)];
        let (loads, seen) = run(
            &order,
            Residency::Resident,
            &mut ForwardContext::new(None, false),
        );
        assert_eq!((loads, &seen[..]), ([vec![0, 1], vec![]], &expected[..]));
        for mut context in [ForwardContext::new(None, false), ForwardContext::apart()] {
            let (loads, seen) = run(&order, Residency::Streamed, &mut context);
            assert_eq!(
                (loads, &seen[..]),
                ([vec![0, 1], vec![0, 1, 0]], &expected[..])
            );
            assert!(!context.layer_times().together.is_zero());
        }
    }

    #[test]
    fn a_layer_that_cannot_be_loaded_is_an_error_of_the_call() {
        let directory = tempfile::tempdir().unwrap();
        let views = [("w", TensorView::new(Dtype::F32, vec![1], &[0; 4]).unwrap())];
        let path = directory.path().join("model.safetensors");
        safetensors::serialize_to_file(views, None, &path).unwrap();
        let weights = Weights::<Cpu>::open(directory.path(), &Default::default(), DType::F32)
            .unwrap()
            .with_residency(Residency::Streamed);
        let loads = Mutex::new(0);
        let stack = LayerStack::load_in_order(&weights, vec![0, 1], move |index, w| {
            let mut loads = loads.lock().unwrap();
            *loads += 1;
            // Both layers are there when the stack is made.
            let name = if *loads == 4 { "absent" } else { "w" };
            w.values(name, &[1]).map(|_| index)
        })
        .unwrap();
        let mut context = ForwardContext::new(None, false);
        let mut seen = 0;
        let result = stack.fold(&mut context, (), &mut (), |(), _, _| {
            seen += 1;
            Ok(())
        });
        assert!(matches!(
            result,
            Err(ForwardError::Stream(WeightsError::Missing { .. }))
        ));
        assert_eq!(seen, 1, "the layer before it is computed");
    }
}

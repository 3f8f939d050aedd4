//! The interface that model code implements, generic over the backend, and the eraser that hides the backend again.

mod cache;
mod inputs;
mod pass;

pub(crate) use cache::KeyValue;
pub(crate) use inputs::{Inputs, put_floats};
pub(crate) use pass::{Pass, array_of};

pub(super) use cache::Cache;

use super::{
    forward::{Forward, ForwardError, Session},
    stepper::Stepper,
};
use crate::{Arrays, backend::Ops};
use burn::tensor::DType;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A model in one backend's tensors.
pub(crate) trait Network<B: Ops>: Send {
    /// Computes every output of the transformers class and hands each to `pass`.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError>;

    /// The argument that grows token by token when the model generates.
    fn growing_input(&self) -> &'static str {
        "input_ids"
    }

    /// The number of layers that keep keys and values; none for a model that does not generate.
    fn cached_layers(&self) -> Option<usize> {
        None
    }

    /// The longest sequence that the model has positions for; none when there is no limit of its own.
    fn max_positions(&self) -> Option<usize> {
        None
    }

    /// The longest sequence for which steps with a cache must equal the whole sequence at once; none for any length.
    fn cacheable_length(&self) -> Option<usize> {
        None
    }

    /// The length beyond which every key must be computed anew, once; none when keys stay as they are.
    fn recomputed_beyond(&self) -> Option<usize> {
        None
    }

    /// Whether a token sees only those before it.
    fn causal(&self) -> bool {
        self.cached_layers().is_some()
    }

    /// Which token the pooled outputs of a text are read at.
    fn pooling(&self) -> Pooling {
        Pooling::Fixed
    }
}

/// Which token the pooled outputs of a text are read at, which decides what padding may do to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The first, or the last that is no padding: padding changes nothing.
    Fixed,
    /// One that is found by its id: padding behind it changes nothing.
    EndToken,
    /// The last column, padding or not.
    LastColumn,
}

/// Runs device code; a panic of the backend becomes its message.
pub(super) fn guard<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        text.unwrap_or("the backend panicked without a message").to_owned()
    })
}

/// A loaded model with its backend hidden.
pub(crate) trait Run: Send {
    fn run(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError>;
    fn session(&self) -> Option<Box<dyn Session + '_>>;
    fn max_positions(&self) -> Option<usize>;
    fn cacheable_length(&self) -> Option<usize>;
    fn causal(&self) -> bool;
    fn pooling(&self) -> Pooling;
}

/// A network together with where and in what it computes.
pub(super) struct Placed<B: Ops> {
    pub(super) network: Box<dyn Network<B>>,
    pub(super) device: B::Device,
    pub(super) dtype: DType,
}

impl<B: Ops> Placed<B> {
    pub(super) fn call(
        &self,
        arrays: &Arrays,
        traced: bool,
        cache: Option<&mut Cache<B>>,
    ) -> Result<Forward, ForwardError> {
        let inputs = Inputs::new(arrays, &self.device, self.dtype);
        let mut pass = Pass::new(cache, traced);
        guard(|| self.network.forward(&inputs, &mut pass)).map_err(|message| ForwardError::Device { message })??;
        Ok(pass.into_result())
    }
}

impl<B: Ops> Run for Placed<B> {
    fn run(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        self.call(inputs, traced, None)
    }

    fn session(&self) -> Option<Box<dyn Session + '_>> {
        Some(Box::new(Stepper::new(self)?))
    }

    fn max_positions(&self) -> Option<usize> {
        self.network.max_positions()
    }

    fn cacheable_length(&self) -> Option<usize> {
        self.network.cacheable_length()
    }

    fn causal(&self) -> bool {
        self.network.causal()
    }

    fn pooling(&self) -> Pooling {
        self.network.pooling()
    }
}

//! A network with its device and its precision.

use crate::{capabilities::Capabilities, network::Network};
use burn_tensor::DType;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testgen_nn::{
    array::Arrays,
    backend::Ops,
    cache::Cache,
    context::ForwardContext,
    forward::{Forward, ForwardError},
    inputs::Inputs,
};

/// A network, with the device and the precision that it computes in.
pub(crate) struct BoundModel<B: Ops> {
    network: Box<dyn Network<B>>,
    device: B::Device,
    dtype: DType,
    capabilities: Capabilities,
}

impl<B: Ops> BoundModel<B> {
    pub(crate) fn new(network: Box<dyn Network<B>>, device: B::Device, dtype: DType) -> Self {
        let capabilities = network.capabilities();
        Self { network, device, dtype, capabilities }
    }

    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// One forward call: stores the hidden states if `traced`; a step of a session if there is a `cache`.
    pub(crate) fn call(
        &self,
        arrays: &Arrays,
        traced: bool,
        cache: Option<&mut Cache<B>>,
    ) -> Result<Forward, ForwardError> {
        let inputs = Inputs::new(arrays, &self.device, self.dtype);
        let mut context = ForwardContext::new(cache, traced);
        guard(|| self.network.forward(&inputs, &mut context)).map_err(|message| ForwardError::Device { message })??;
        Ok(context.into_result())
    }
}

/// Runs device code; a panic of the backend becomes its message.
pub(crate) fn guard<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // burn reports a failed kernel or full memory by a panic. The network is only read, and a session resets its cache.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        text.unwrap_or("the backend panicked without a message").to_owned()
    })
}

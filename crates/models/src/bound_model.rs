//! A network with its device and its precision.

use crate::{capabilities::Capabilities, network::Network};
use burn_tensor::DType;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testgen_nn::{
    array::Arrays,
    backend::{Ops, compute_in},
    cache::Cache,
    context::ForwardContext,
    forward::{Forward, ForwardError},
    inputs::Inputs,
};
use testgen_types::{Precision, panic_text};

/// A network, with the device and the precision that it computes in.
pub(crate) struct BoundModel<B: Ops> {
    network: Box<dyn Network<B>>,
    device: B::Device,
    precision: Precision,
    capabilities: Capabilities,
}

impl<B: Ops> BoundModel<B> {
    pub(crate) fn new(
        network: Box<dyn Network<B>>,
        device: B::Device,
        precision: Precision,
    ) -> Self {
        let capabilities = network.capabilities();
        Self {
            network,
            device,
            precision,
            capabilities,
        }
    }

    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// One forward call: stores the hidden states if `traced`; a step of a session if there is a
    /// `cache`.
    pub(crate) fn call(
        &self,
        arrays: &Arrays,
        traced: bool,
        cache: Option<&mut Cache<B>>,
    ) -> Result<Forward, ForwardError> {
        let inputs = Inputs::new(arrays, &self.device, storage(self.precision));
        let mut context = ForwardContext::new(cache, traced);
        let forward = || self.network.forward(&inputs, &mut context);
        guard(|| compute_in::<B, _>(self.precision, forward))
            .map_err(|message| ForwardError::Device { message })??;
        Ok(context.into_result())
    }
}

/// The type of tensors in memory.
pub(crate) fn storage(precision: Precision) -> DType {
    match precision {
        Precision::F32 | Precision::Tf32 => DType::F32,
        Precision::F16 => DType::F16,
        Precision::Bf16 => DType::BF16,
    }
}

/// Runs device code; a panic of the backend becomes its message.
pub(crate) fn guard<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // burn reports a failed kernel or full memory by a panic. The network is only read, and a
    // session resets its cache.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_text(panic.as_ref()).to_owned())
}

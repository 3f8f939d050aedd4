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
    weights::Residency,
};
use testgen_types::{Precision, panic_text};

/// A network, with the device and the precision that it computes in.
pub(crate) struct BoundModel<B: Ops> {
    network: Box<dyn Network<B>>,
    device: B::Device,
    precision: Precision,
    residency: Residency,
    capabilities: Capabilities,
}

impl<B: Ops> BoundModel<B> {
    pub(crate) fn new(
        network: Box<dyn Network<B>>,
        device: B::Device,
        precision: Precision,
        residency: Residency,
    ) -> Self {
        // Kept: a session looks at the limits in every step.
        let capabilities = network.capabilities();
        Self {
            network,
            device,
            precision,
            residency,
            capabilities,
        }
    }

    pub(crate) fn residency(&self) -> Residency {
        self.residency
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
        let mut context = ForwardContext::new(cache, traced);
        self.forward_in(arrays, &mut context)?;
        Ok(context.into_result())
    }

    /// One forward call, in a context whose outputs stay on the device. Returns when the device has
    /// computed them.
    pub(crate) fn compute(
        &self,
        arrays: &Arrays,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        self.forward_in(arrays, context)?;
        // A device fails in two ways: burn panics, or the synchronisation returns an error.
        guard(|| B::sync(&self.device))
            .map_err(failed)?
            .map_err(|error| failed(format!("{error:?}")))
    }

    fn forward_in(
        &self,
        arrays: &Arrays,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let inputs = Inputs::new(arrays, &self.device, storage(self.precision));
        guard(|| compute_in::<B, _>(self.precision, || self.network.forward(&inputs, context)))
            .map_err(|message| ForwardError::Device { message })?
    }
}

/// The type of tensors in memory.
pub(crate) fn storage(precision: Precision) -> DType {
    match precision {
        // TF32 is a way to compute products: tensors in memory keep all bits of f32.
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

fn failed(message: String) -> ForwardError {
    ForwardError::Device { message }
}

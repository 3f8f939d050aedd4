//! Computes calls of single operators with burn, on the host processor or a GPU.
//!
//! Owns how an operator is composed of what burn has. An operator that models use is computed as
//! they compute it, through [`testgen_nn::backend::Ops`]. Functions are generic over the backend
//! alone: tensors are primitives of any rank and element type, so that an operator is compiled
//! twice and not once for each type and rank. Does not own what is right (`testgen-operators`).

mod activation;
mod arguments;
mod attention;
mod collective;
mod convolution;
mod dispatch;
mod elementwise;
mod float;
mod fused;
mod loss;
mod matrix;
mod movement;
mod normalisation;
mod periodic;
mod pooling;
mod reduction;
mod transfer;
mod value;
mod window;

use arguments::CallArguments;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(any(feature = "cuda", feature = "rocm"))]
use testgen_nn::backend::Gpu;
use testgen_nn::{
    backend::{Cpu, Ops, compute_in},
    device::BackendDevice,
    timing::milliseconds,
};
use testgen_operators::calls::{
    Call, CallError, Computed, Element, Execute, PeriodicCall, PeriodicResult, Piece, Reduction,
};
use testgen_types::{Operator, Precision, Repetitions, panic_text};
use value::DeviceTensor;

/// The executor of calls on `device`, with products in `precision`. Collectives may use all
/// `devices` of its kind.
pub fn executor(
    device: &BackendDevice,
    devices: u16,
    precision: Precision,
) -> Box<dyn Execute + Send + Sync> {
    match device {
        BackendDevice::Cpu(device) => Box::new(CallExecutor::<Cpu> {
            device: *device,
            devices,
            precision,
        }),
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => Box::new(CallExecutor::<Gpu> {
            device: *device,
            devices,
            precision,
        }),
    }
}

/// Computes calls on a device of one backend.
struct CallExecutor<B: Ops> {
    device: B::Device,
    devices: u16,
    precision: Precision,
}

impl<B: Ops> Execute for CallExecutor<B> {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        caught(call.operator, || self.compute(call))
    }

    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        caught(call.call.operator, || {
            periodic::computed::<B>(call, self.precision, (&self.device, self.devices), read)
        })
    }

    fn time(&self, call: &Call, repetitions: Repetitions) -> Result<Vec<f64>, CallError> {
        caught(call.operator, || {
            compute_in::<B, _>(self.precision, || {
                // Outside of the measurement: an operator does not include putting inputs on a device.
                let inputs = self.inputs(call);
                repetitions.measure(|| {
                    milliseconds(|| {
                        // Clones, so that no operation may write into an input.
                        let result = dispatch::compute::<B>(self.arguments(call, inputs.clone()));
                        // A GPU computes after the call has returned.
                        self.wait(call.operator)?;
                        result.map(drop)
                    })
                })
            })
        })
    }
}

/// burn panics if a device fails, and on shapes that an operator does not take.
fn caught<T>(
    operator: Operator,
    compute: impl FnOnce() -> Result<T, CallError>,
) -> Result<T, CallError> {
    let computed = catch_unwind(AssertUnwindSafe(compute));
    computed.unwrap_or_else(|panic| {
        Err(CallError::Device {
            operator,
            message: panic_text(panic.as_ref()).to_owned(),
        })
    })
}

impl<B: Ops> CallExecutor<B> {
    fn compute(&self, call: &Call) -> Result<Computed, CallError> {
        let result = compute_in::<B, _>(self.precision, || {
            dispatch::compute::<B>(self.arguments(call, self.inputs(call)))
        })?;
        // From the tensor and not from the request: a silent fallback must show.
        let device = B::kind(&result.device());
        let mut tensor = transfer::download(result).map_err(|message| CallError::Device {
            operator: call.operator,
            message,
        })?;
        // burn 0.21 panics on GPUs on tensors without dimensions, so such a result has one on the
        // device.
        if is_of_all_elements(call) && tensor.shape == [1] {
            tensor.shape.clear();
        }
        Ok(Computed { tensor, device })
    }

    /// The inputs on the device.
    fn inputs(&self, call: &Call) -> Vec<DeviceTensor<B>> {
        call.inputs
            .iter()
            .map(|input| transfer::upload::<B>(input, &self.device))
            .collect()
    }

    fn arguments<'a>(
        &'a self,
        call: &'a Call,
        inputs: Vec<DeviceTensor<B>>,
    ) -> CallArguments<'a, B> {
        let mut elements = call.inputs.iter().map(|input| input.tensor.element);
        let element = elements.find(|element| element.is_float());
        CallArguments::new(
            call,
            inputs,
            element.unwrap_or(Element::I32),
            &self.device,
            self.devices,
        )
    }

    /// Returns when the device has computed everything.
    fn wait(&self, operator: Operator) -> Result<(), CallError> {
        B::sync(&self.device).map_err(|error| CallError::Device {
            operator,
            message: format!("{error:?}"),
        })
    }
}

/// Whether the result is a number: all elements are reduced to it.
fn is_of_all_elements(call: &Call) -> bool {
    use Operator::*;
    match call.operator {
        Sum | Mean | Max | Min | Prod => call.attributes.dim.is_none(),
        MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | CrossEntropyLoss
        | NllLoss | KlDivLoss => call.attributes.reduction != Reduction::None,
        _ => false,
    }
}

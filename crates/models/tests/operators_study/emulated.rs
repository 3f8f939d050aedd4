//! Devices emulated on the host: what another one computes, with a change of its calls or of its
//! results.

use std::cell::RefCell;
use testgen_operators::{
    calls::{Call, CallError, Computed, Element, Execute, HostTensor},
    cases::{Arithmetic, reference},
};
use testgen_types::{DeviceKind, Precision};

/// A change of what a device computes: none if it does not concern the call.
pub(crate) type Change = dyn Fn(&dyn Execute, &Call) -> Option<Result<Computed, CallError>>;

/// A device that computes some calls in another way.
pub(crate) struct Emulated<'a> {
    pub(crate) device: &'a dyn Execute,
    pub(crate) change: &'a Change,
    /// The number of calls that were computed in another way and had another result.
    pub(crate) changed: RefCell<usize>,
}

impl<'a> Emulated<'a> {
    pub(crate) fn new(device: &'a dyn Execute, change: &'a Change) -> Self {
        Self {
            device,
            change,
            changed: RefCell::new(0),
        }
    }
}

impl Execute for Emulated<'_> {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let right = self.device.execute(call);
        // A change that the device refuses to compute is not a fault: an error is detected by every
        // check.
        let Some(Ok(changed)) = (self.change)(self.device, call) else {
            return right;
        };
        let is_same = right
            .as_ref()
            .is_ok_and(|right| same(&right.tensor, &changed.tensor));
        *self.changed.borrow_mut() += usize::from(!is_same);
        Ok(changed)
    }
}

/// Whether two results have the same bits.
fn same(one: &HostTensor, other: &HostTensor) -> bool {
    let bits = |tensor: &HostTensor| {
        tensor
            .values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    one.shape == other.shape && one.element == other.element && bits(one) == bits(other)
}

/// A device that computes in f64 and rounds every result once.
pub(crate) struct Perfect(pub(crate) Precision);

impl Execute for Perfect {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let integers = call
            .inputs
            .iter()
            .all(|input| !input.tensor.element.is_float());
        let arithmetic = if integers {
            Arithmetic::exact(Element::I32)
        } else {
            Arithmetic::for_precision(self.0)
        };
        Ok(on_host(reference(call, arithmetic).tensor()))
    }
}

/// A result on the host processor.
pub(crate) fn on_host(tensor: HostTensor) -> Computed {
    Computed {
        tensor,
        device: DeviceKind::Cpu,
    }
}

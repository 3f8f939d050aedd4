//! Operators with a fault in their results.

use super::faulty::Fault;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testgen_operators::calls::{
    Call, CallError, Computed, Element, Execute, HostTensor, Layout, PeriodicCall, PeriodicResult,
    Piece,
};
use testgen_types::{DeviceKind, Repetitions};

/// Operators with a fault.
pub(super) struct FaultyOperators {
    inner: Box<dyn Execute + Send + Sync>,
    fault: Fault,
    calls: AtomicUsize,
}

impl FaultyOperators {
    pub(super) fn new(inner: Box<dyn Execute + Send + Sync>, fault: Fault) -> Self {
        Self {
            inner,
            fault,
            calls: AtomicUsize::new(0),
        }
    }
}

impl Execute for FaultyOperators {
    fn time(&self, call: &Call, repetitions: Repetitions) -> Result<Vec<f64>, CallError> {
        self.inner.time(call, repetitions)
    }

    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let mut call = call.clone();
        if self.fault == Fault::StridesIgnored {
            call.inputs
                .iter_mut()
                .filter(|input| input.layout == Layout::Reversed)
                .for_each(|input| {
                    let axes: Vec<usize> = (0..input.tensor.shape.len()).rev().collect();
                    input.tensor = HostTensor {
                        shape: input.tensor.shape.clone(),
                        ..input.tensor.permuted(&axes)
                    };
                    input.layout = Layout::Contiguous;
                });
        }
        let mut computed = self.inner.execute(&call)?;
        let odd = self.calls.fetch_add(1, SeqCst) % 2 == 1;
        let tensor = &mut computed.tensor;
        match (self.fault, tensor.values.last_mut()) {
            (Fault::OutputOnOtherDevice, _) => computed.device = DeviceKind::Cuda,
            (Fault::OutputOff, Some(last)) => *last = off(tensor.element, *last),
            (Fault::EverySecondCallOneBitOff, Some(last)) if odd => {
                *last = next(tensor.element, *last)
            }
            (Fault::WrongRowOfFive, Some(last)) => *last = next(tensor.element, *last),
            (Fault::NotANumberLost, _) => {
                tensor
                    .values
                    .iter_mut()
                    .filter(|value| value.is_nan())
                    .for_each(|value| *value = 0.0);
            }
            _ => {}
        }
        Ok(computed)
    }

    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        self.inner.execute_periodic(call, &mut |piece| {
            let mut values = piece.values.to_vec();
            if let Some(last) = values.last_mut().filter(|_| self.fault == Fault::OutputOff) {
                *last = off(Element::F32, f64::from(*last)) as f32;
            }
            read(Piece {
                first: piece.first,
                values: &values,
            });
        })
    }
}

/// A number that is off by 1 %, an integer by 1.
fn off(element: Element, value: f64) -> f64 {
    match element {
        Element::Bool => 1.0 - value,
        Element::I32 => value + 1.0,
        _ => element.round(value * 1.01 + 0.01),
    }
}

/// The next number of the type.
fn next(element: Element, value: f64) -> f64 {
    match element {
        Element::F32 => f64::from((value as f32).next_up()),
        _ => off(element, value),
    }
}

//! Calls of operators computed by a library.

mod call_error;
mod convolution;
mod primitive;
mod product;

use crate::{
    convolution_library::ConvolutionLibrary,
    open::{Opened, OpenedLibrary},
};
use call_error::not_computed;
use convolution::ConvolutionExecutor;
use primitive::PrimitiveExecutor;
use product::ProductExecutor;
use std::rc::Rc;
use testgen_operators::calls::{Call, CallError, Computed, Execute, HostTensor};
use testgen_types::{OperatorGroup, Precision};

/// Computes the operators of a library: products, or convolutions and operators on one tensor.
pub struct LibraryExecutor {
    opened: Rc<Opened>,
    precision: Precision,
}

impl LibraryExecutor {
    /// An executor of a library that was opened on a device. Calls on f32 are computed in
    /// `precision`, f32 or TF32; those on other types have the precision of their type.
    pub const fn new(opened: Rc<Opened>, precision: Precision) -> Self {
        Self { opened, precision }
    }

    /// Computes a call without looking its operator up in the library's list.
    pub(crate) fn compute(&self, call: &Call) -> Result<HostTensor, CallError> {
        // The arithmetic of a device is probed by calls that an engine does not offer.
        let (gpu, precision) = (&*self.opened.gpu, self.precision);
        match &self.opened.library {
            OpenedLibrary::Products(blas) => ProductExecutor {
                gpu,
                blas: &**blas,
                precision,
            }
            .execute(call),
            OpenedLibrary::Convolutions(library)
                if call.operator.group() == OperatorGroup::Convolution =>
            {
                ConvolutionExecutor {
                    gpu,
                    library: &**library,
                    precision,
                }
                .execute(call)
            }
            OpenedLibrary::Convolutions(library) => {
                let library: &dyn ConvolutionLibrary = &**library;
                PrimitiveExecutor { gpu, library }.execute(call)
            }
        }
    }
}

impl Execute for LibraryExecutor {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let name = self.opened.name();
        if !name.operators().contains(&call.operator) {
            return Err(not_computed(
                call,
                format!("{name} does not compute this operator"),
            ));
        }
        Ok(Computed {
            tensor: self.compute(call)?,
            device: name.device(),
        })
    }
}

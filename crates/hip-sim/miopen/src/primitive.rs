//! An operator with one input and perhaps parameters, from the descriptors of its tensors.

use crate::numbers::MiopenStatus;
use crate::problem::tensor;
use hip_sim::{
    MatrixType, SimulatedKind, SimulatedPrimitive, SimulatedStatistics, SimulatedTensor, faults,
};
use std::ffi::c_void;

/// The input and the result of an operator, each a descriptor with its elements, and the factors
/// of both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperatorTensors {
    pub(crate) handle: *mut c_void,
    pub(crate) alpha: *const c_void,
    pub(crate) x: [*mut c_void; 2],
    pub(crate) beta: *const c_void,
    pub(crate) y: [*mut c_void; 2],
}

impl OperatorTensors {
    /// The input and the result. Only alpha 1 and beta 0 are simulated.
    ///
    /// # Safety
    ///
    /// The descriptors are null or came from this library; alpha and beta are null or f32.
    pub(crate) unsafe fn described(self) -> Result<[SimulatedTensor; 2], MiopenStatus> {
        let factors = [self.alpha, self.beta];
        let elements = [self.x[1], self.y[1]];
        if self.handle.is_null()
            || factors.iter().any(|factor| factor.is_null())
            || elements.iter().any(|element| element.is_null())
        {
            return Err(MiopenStatus::BadParm);
        }
        // SAFETY: as the caller promises.
        let factors = factors.map(|factor| unsafe { factor.cast::<f32>().read() });
        // SAFETY: as the caller promises.
        let tensors = unsafe { [tensor(self.x[0], self.x[1])?, tensor(self.y[0], self.y[1])?] };
        let [x, y] = &tensors;
        if x.number != y.number || x.lengths.len() != y.lengths.len() || x.lengths.len() < 3 {
            return Err(MiopenStatus::BadParm);
        }
        if factors == [1.0, 0.0] {
            Ok(tensors)
        } else {
            Err(MiopenStatus::NotImplemented)
        }
    }

    /// Computes an operator whose result has the lengths of its input.
    ///
    /// # Safety
    ///
    /// As for [`Self::described`]; the elements of x can be read, the elements of y written.
    pub(crate) unsafe fn compute_elements(self, kind: SimulatedKind) -> Result<(), MiopenStatus> {
        // SAFETY: as the caller promises.
        let [x, y] = unsafe { self.described()? };
        if x.lengths != y.lengths {
            return Err(MiopenStatus::BadParm);
        }
        // SAFETY: as the caller promises.
        unsafe { compute(kind, [x, y]) }
    }
}

/// Computes an operator on tensors whose lengths belong together.
///
/// # Safety
///
/// The elements of x can be read, the elements of y written.
pub(crate) unsafe fn compute(
    kind: SimulatedKind,
    [x, y]: [SimulatedTensor; 2],
) -> Result<(), MiopenStatus> {
    if x.number == MatrixType::Bf16 && !has_bf16(&kind) {
        return Err(MiopenStatus::NotImplemented);
    }
    let primitive = SimulatedPrimitive { kind, x, y };
    // SAFETY: as the caller promises.
    unsafe { primitive.compute(faults()) }.map_err(|_| MiopenStatus::InternalError)
}

/// Whether MIOpen has the operator of bf16.
fn has_bf16(kind: &SimulatedKind) -> bool {
    match kind {
        SimulatedKind::Reduction(_) => true,
        SimulatedKind::Norm(norm) => {
            matches!(norm.statistics, SimulatedStatistics::Computed { .. })
        }
        SimulatedKind::Softmax { .. }
        | SimulatedKind::Activation(_)
        | SimulatedKind::Pool { .. } => false,
    }
}

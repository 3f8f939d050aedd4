//! Batch norms by recorded statistics.

use crate::numbers::{BATCH_NORMS, MiopenStatus, guarded};
use crate::primitive::OperatorTensors;
use crate::problem::tensor;
use hip_sim::{MatrixType, SimulatedKind, SimulatedNorm, SimulatedStatistics, SimulatedTensor};
use std::ffi::{c_int, c_void};

/// `miopenBatchNormalizationForwardInference` with parameters of f32. Without statistics, which
/// MIOpen then computes, it is not simulated.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32; the elements of x and of the
/// parameters can be read, the elements of y written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenBatchNormalizationForwardInference(
    handle: *mut c_void,
    mode: c_int,
    alpha: *mut c_void,
    beta: *mut c_void,
    x_layout: *mut c_void,
    x: *const c_void,
    y_layout: *mut c_void,
    y: *mut c_void,
    parameter_layout: *mut c_void,
    weight: *mut c_void,
    bias: *mut c_void,
    mean: *mut c_void,
    variance: *mut c_void,
    epsilon: f64,
) -> c_int {
    let tensors = OperatorTensors {
        handle,
        alpha,
        x: [x_layout, x.cast_mut()],
        beta,
        y: [y_layout, y],
    };
    guarded(|| {
        // SAFETY: as the caller promises.
        let [x, _] = unsafe { tensors.described()? };
        let lengths = parameter_lengths(mode, &x.lengths)?;
        let numbers = |data: *mut c_void| {
            // SAFETY: as the caller promises.
            let parameter = unsafe { tensor(parameter_layout, data)? };
            // SAFETY: as the caller promises.
            unsafe { parameter_numbers(&parameter, &lengths) }
        };
        let pairs =
            |left: *mut c_void, right: *mut c_void| -> Result<Vec<[f64; 2]>, MiopenStatus> {
                let pairs = numbers(left)?.into_iter().zip(numbers(right)?);
                Ok(pairs.map(<[f64; 2]>::from).collect())
            };
        let norm = SimulatedNorm {
            statistics: SimulatedStatistics::Recorded(pairs(mean, variance)?),
            epsilon,
            parameters: pairs(weight, bias)?,
            positions: x.lengths[2..].iter().product::<usize>()
                / lengths[2..].iter().product::<usize>(),
        };
        // SAFETY: as the caller promises.
        unsafe { tensors.compute_elements(SimulatedKind::Norm(norm)) }
    })
}

/// The lengths of the parameters of x in a mode. MIOpen reads x with four dimensions.
fn parameter_lengths(mode: c_int, lengths: &[usize]) -> Result<Vec<usize>, MiopenStatus> {
    let [per_activation, spatial] = BATCH_NORMS;
    let [_, channels, height, width] = *lengths else {
        return Err(MiopenStatus::NotImplemented);
    };
    match mode {
        mode if mode == spatial => Ok(vec![1, channels, 1, 1]),
        mode if mode == per_activation => Ok(vec![1, channels, height, width]),
        _ => Err(MiopenStatus::BadParm),
    }
}

/// The numbers of a parameter, which must have these lengths.
///
/// # Safety
///
/// The elements are null or can be read.
unsafe fn parameter_numbers(
    parameter: &SimulatedTensor,
    lengths: &[usize],
) -> Result<Vec<f64>, MiopenStatus> {
    if parameter.data.is_null() || parameter.number != MatrixType::F32 {
        Err(MiopenStatus::NotImplemented)
    } else if parameter.lengths != lengths {
        Err(MiopenStatus::BadParm)
    } else {
        // SAFETY: as the caller promises.
        Ok(unsafe { parameter.numbers() })
    }
}

//! Pools and their descriptors.

use crate::numbers::{MiopenStatus, POOLS, create, destroy, guarded, numbers};
use crate::primitive::{OperatorTensors, compute};
use hip_sim::{SimulatedKind, SimulatedTensor, SimulatedWindow};
use std::ffi::{c_int, c_void};

/// The windows of a pooling descriptor.
#[derive(Debug, Default)]
struct PoolDescriptor {
    each: Option<SimulatedWindow>,
    window: Vec<usize>,
    padding: Vec<usize>,
    stride: Vec<usize>,
}

/// `miopenCreatePoolingDescriptor`.
///
/// # Safety
///
/// `pool` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenCreatePoolingDescriptor(pool: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(pool, PoolDescriptor::default()) })
}

/// `miopenSetNdPoolingDescriptor`.
///
/// # Safety
///
/// `pool` came from [`miopenCreatePoolingDescriptor`]; the arrays have `rank` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSetNdPoolingDescriptor(
    pool: *mut c_void,
    mode: c_int,
    rank: c_int,
    window: *const c_int,
    padding: *const c_int,
    stride: *const c_int,
) -> c_int {
    let [max, average, inclusive] = POOLS;
    guarded(|| {
        let each = match mode {
            mode if mode == max => SimulatedWindow::Maximum,
            mode if mode == average => SimulatedWindow::Mean,
            mode if mode == inclusive => SimulatedWindow::MeanWithPadding,
            _ => return Err(MiopenStatus::BadParm),
        };
        // SAFETY: as the caller promises.
        let descriptor = unsafe { pool.cast::<PoolDescriptor>().as_mut() };
        *descriptor.ok_or(MiopenStatus::BadParm)? = PoolDescriptor {
            each: Some(each),
            // SAFETY: as the caller promises.
            window: unsafe { numbers(window, rank, 1)? },
            // SAFETY: as the caller promises.
            padding: unsafe { numbers(padding, rank, 0)? },
            // SAFETY: as the caller promises.
            stride: unsafe { numbers(stride, rank, 1)? },
        };
        Ok(())
    })
}

/// `miopenPoolingForward`. Indices for a gradient are not simulated.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32; the elements of x can be read,
/// the elements of y written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenPoolingForward(
    handle: *mut c_void,
    pool: *mut c_void,
    alpha: *const c_void,
    x_layout: *mut c_void,
    x: *const c_void,
    beta: *const c_void,
    y_layout: *mut c_void,
    y: *mut c_void,
    do_backward: bool,
    _workspace: *mut c_void,
    _workspace_bytes: usize,
) -> c_int {
    let tensors = OperatorTensors {
        handle,
        alpha,
        x: [x_layout, x.cast_mut()],
        beta,
        y: [y_layout, y],
    };
    guarded(|| {
        if do_backward {
            return Err(MiopenStatus::NotImplemented);
        }
        // SAFETY: as the caller promises.
        let [x, y] = unsafe { tensors.described()? };
        // SAFETY: as the caller promises.
        let descriptor = unsafe { pool.cast::<PoolDescriptor>().as_ref() };
        let kind = descriptor
            .filter(|descriptor| descriptor.fits(&x, &y))
            .and_then(PoolDescriptor::kind);
        // SAFETY: as the caller promises.
        unsafe { compute(kind.ok_or(MiopenStatus::BadParm)?, [x, y]) }
    })
}

/// `miopenDestroyPoolingDescriptor`.
///
/// # Safety
///
/// `pool` came from [`miopenCreatePoolingDescriptor`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenDestroyPoolingDescriptor(pool: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<PoolDescriptor>(pool) })
}

impl PoolDescriptor {
    /// Whether y has an element for each window on x. MIOpen has pools of two and three dimensions.
    fn fits(&self, x: &SimulatedTensor, y: &SimulatedTensor) -> bool {
        let rank = self.window.len();
        let windows = |dimension: usize| {
            let length = x.lengths[2 + dimension] + 2 * self.padding[dimension];
            length
                .checked_sub(self.window[dimension])
                .map(|rest| rest / self.stride[dimension] + 1)
        };
        (2..=3).contains(&rank)
            && x.lengths.len() == rank + 2
            && x.lengths[..2] == y.lengths[..2]
            && (0..rank).all(|dimension| windows(dimension) == Some(y.lengths[2 + dimension]))
    }

    fn kind(&self) -> Option<SimulatedKind> {
        Some(SimulatedKind::Pool {
            each: self.each?,
            window: self.window.clone(),
            padding: self.padding.clone(),
            stride: self.stride.clone(),
        })
    }
}

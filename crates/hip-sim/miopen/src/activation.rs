//! Activations and their descriptors.

use crate::numbers::{ACTIVATIONS, MiopenStatus, create, destroy, guarded};
use crate::primitive::OperatorTensors;
use hip_sim::{SimulatedFunction, SimulatedKind};
use std::ffi::{c_int, c_void};

/// The function of an activation descriptor.
#[derive(Debug, Default)]
struct ActivationFunction(Option<SimulatedFunction>);

/// `miopenCreateActivationDescriptor`.
///
/// # Safety
///
/// `activation` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenCreateActivationDescriptor(activation: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(activation, ActivationFunction::default()) })
}

/// `miopenSetActivationDescriptor`.
///
/// # Safety
///
/// `activation` came from [`miopenCreateActivationDescriptor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSetActivationDescriptor(
    activation: *mut c_void,
    mode: c_int,
    alpha: f64,
    beta: f64,
    _gamma: f64,
) -> c_int {
    let [logistic, tanh, relu, clipped] = ACTIVATIONS;
    guarded(|| {
        let function = match mode {
            mode if mode == logistic => SimulatedFunction::Logistic,
            mode if mode == tanh => SimulatedFunction::Tanh { alpha, beta },
            mode if mode == relu => SimulatedFunction::Relu,
            mode if mode == clipped => SimulatedFunction::ClippedRelu(alpha),
            _ => return Err(MiopenStatus::NotImplemented),
        };
        // SAFETY: as the caller promises.
        let descriptor = unsafe { activation.cast::<ActivationFunction>().as_mut() };
        *descriptor.ok_or(MiopenStatus::BadParm)? = ActivationFunction(Some(function));
        Ok(())
    })
}

/// `miopenActivationForward`.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32; the elements of x can be read,
/// the elements of y written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenActivationForward(
    handle: *mut c_void,
    activation: *mut c_void,
    alpha: *const c_void,
    x_layout: *mut c_void,
    x: *const c_void,
    beta: *const c_void,
    y_layout: *mut c_void,
    y: *mut c_void,
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
        let descriptor = unsafe { activation.cast::<ActivationFunction>().as_ref() };
        let function = descriptor.and_then(|descriptor| descriptor.0);
        let function = function.ok_or(MiopenStatus::BadParm)?;
        // SAFETY: as the caller promises.
        unsafe { tensors.compute_elements(SimulatedKind::Activation(function)) }
    })
}

/// `miopenDestroyActivationDescriptor`.
///
/// # Safety
///
/// `activation` came from [`miopenCreateActivationDescriptor`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenDestroyActivationDescriptor(activation: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<ActivationFunction>(activation) })
}

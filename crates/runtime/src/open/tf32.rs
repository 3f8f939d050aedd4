//! Whether f32 products are computed in f32 or in TF32.

#[cfg(feature = "native")]
use super::native;
use super::{
    low_bits::{LOW_BIT, SIDE, loses_bits},
    open_device::{DeviceExecutor, OpenDevice},
};
use crate::engine::FloatTensor;
use testgen_engine::ComputeOperation;
use testgen_types::Precision;

/// Whether one f32 product on `device` loses bits that f32 has and TF32 lacks. `false` proves
/// nothing about products of other shapes: see [`OpenDevice::tf32`].
///
/// # Errors
///
/// The product could not be computed; the backend's message.
pub fn measure_tf32(device: &OpenDevice) -> Result<bool, String> {
    loses_bits_of_f32(device, Precision::F32)
}

/// The same of a product in f32 or in tf32.
pub(crate) fn loses_bits_of_f32(device: &OpenDevice, precision: Precision) -> Result<bool, String> {
    match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => native::loses_bits(&device.facts, backend, precision)
            .map_err(|failure| format!("{failure:?}"))?,
        DeviceExecutor::Engine { process, .. } => {
            let operands = [matrix(1.0 + LOW_BIT), matrix(1.0)];
            process
                .compute(
                    ComputeOperation::MatrixProduct,
                    operands,
                    precision,
                    precision,
                )
                .and_then(|values| loses_bits(&values))
        }
    }
}

fn matrix(value: f32) -> Option<FloatTensor> {
    Some(FloatTensor {
        shape: vec![SIDE, SIDE],
        values: vec![value; SIDE * SIDE],
    })
}

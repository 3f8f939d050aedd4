//! Buffers whose every byte outside of the tensor is part of a NaN, so that a read outside of it
//! shows in the result, every time, and a write outside of it shows in the bytes.

use crate::values;
use burn_backend::Shape;
use burn_cubecl::tensor::CubeTensor;
use cubecl::{Runtime as _, server::Handle, zspace::metadata::Metadata};
use testgen_gpu::{Factor, GpuDevice, GpuRuntime, dtype};
use testgen_types::Precision;

/// Bytes before and after a tensor.
// A kernel that ignores the end of a matrix reads whole tiles of rows: this is 64 rows of 512
// numbers in f32. A multiple of every alignment.
const GUARD: usize = 64 * 512 * 4;
/// Ones in all bits are a NaN in every type.
const FILL: u8 = 0xff;

/// A factor with its numbers, which are row-major in its shape.
pub(crate) fn factor(
    device: GpuDevice,
    factor: &Factor,
    precision: Precision,
    numbers: &[f64],
) -> CubeTensor<GpuRuntime> {
    let width = values::width(precision);
    // By the extent and not by the count: a view has gaps between its rows, and a kernel that
    // ignores the strides reads the NaN in them.
    let mut bytes = vec![FILL; 2 * GUARD + factor.extent() * width];
    for (number, offset) in numbers.iter().zip(factor.offsets()) {
        let start = GUARD + offset * width;
        values::write(*number, precision, &mut bytes[start..start + width]);
    }
    let client = GpuRuntime::client(&device);
    let handle = inside(client.create_from_slice(&bytes));
    let metadata = Metadata::new(Shape::from(factor.shape.clone()), factor.strides.as_slice());
    CubeTensor::new(client, handle, metadata, device, dtype(precision))
}

/// A contiguous tensor for results, without any.
pub(crate) struct GuardedOutput {
    pub(crate) tensor: CubeTensor<GpuRuntime>,
    whole: Handle,
    precision: Precision,
}

impl GuardedOutput {
    pub(crate) fn new(device: GpuDevice, shape: Vec<usize>, precision: Precision) -> Self {
        let bytes = shape.iter().product::<usize>() * values::width(precision);
        let client = GpuRuntime::client(&device);
        // The result is filled as well: an element that the kernel leaves out stays a NaN, while
        // zero could be the sum.
        let whole = client.create_from_slice(&vec![FILL; 2 * GUARD + bytes]);
        let handle = inside(whole.clone());
        let tensor = CubeTensor::new_contiguous(
            client,
            device,
            Shape::from(shape),
            handle,
            dtype(precision),
        );
        Self {
            tensor,
            whole,
            precision,
        }
    }

    /// The results, row-major.
    ///
    /// # Errors
    ///
    /// The device's message; or the kernel wrote outside of the tensor.
    pub(crate) fn read(self) -> Result<Vec<f64>, ReadError> {
        let bytes = self.tensor.client.read_one(self.whole);
        let bytes = bytes.map_err(|error| ReadError::Device(error.to_string()))?;
        let inside = &bytes[GUARD..bytes.len() - GUARD];
        let guards = bytes[..GUARD].iter().chain(&bytes[bytes.len() - GUARD..]);
        if guards.copied().any(|byte| byte != FILL) {
            return Err(ReadError::WroteOutside);
        }
        Ok(values::read(inside, self.precision))
    }
}

/// Why there are no results.
pub(crate) enum ReadError {
    Device(String),
    WroteOutside,
}

fn inside(whole: Handle) -> Handle {
    whole.offset_start(GUARD as u64).offset_end(GUARD as u64)
}

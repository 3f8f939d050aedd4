//! The arguments of one call, checked and put on the device.

use crate::{
    array::{Array, Arrays},
    backend::Ops,
    forward::ForwardError,
};
use burn_tensor::{DType, Int, Tensor, TensorData};

/// The arguments of one call, ready to be put on the device.
#[derive(Clone)]
pub struct Inputs<'a, B: Ops> {
    arrays: &'a Arrays,
    device: B::Device,
    /// The type that the model computes in.
    pub dtype: DType,
}

impl<'a, B: Ops> Inputs<'a, B> {
    /// The arguments `arrays` of a model on `device` that computes in `dtype`.
    pub fn new(arrays: &'a Arrays, device: &B::Device, dtype: DType) -> Self {
        Self {
            arrays,
            device: device.clone(),
            dtype,
        }
    }

    /// The argument as it was given, for what is decided on the host.
    pub fn host(&self, name: &str) -> Option<&'a Array> {
        self.arrays.get(name)
    }

    /// Other arguments for a part of the model.
    pub fn with<'b>(&self, arrays: &'b Arrays) -> Inputs<'b, B> {
        Inputs::new(arrays, &self.device, self.dtype)
    }

    /// The device that they are put on: the model's, in the layers of a split model theirs.
    pub fn device(&self) -> &B::Device {
        &self.device
    }

    pub(crate) fn set_device(&mut self, device: B::Device) {
        self.device = device;
    }

    /// Integers [batch, seq] that must be there, all in `0..limit`.
    pub fn indices(
        &self,
        name: &'static str,
        limit: usize,
    ) -> Result<Tensor<B, 2, Int>, ForwardError> {
        self.optional_indices(name, limit)?
            .ok_or(ForwardError::MissingInput { name })
    }

    /// Integers [batch, seq] that may be there, all in `0..limit`.
    pub fn optional_indices(
        &self,
        name: &'static str,
        limit: usize,
    ) -> Result<Option<Tensor<B, 2, Int>>, ForwardError> {
        let Some(array) = self.arrays.get(name) else {
            return Ok(None);
        };
        // Models take the rows apart by their length, which cannot be 0.
        let values = array.as_integers().filter(|values| !values.is_empty());
        let (Some(values), &[batch, seq]) = (values, array.shape()) else {
            let expected = "integers of shape [batch, seq], at least one".to_owned();
            return Err(wrong_input(name, array.shape(), expected));
        };
        self.checked_indices(name, values.to_vec(), [batch, seq], limit)
            .map(Some)
    }

    /// Integers that were read or computed on the host, all in `0..limit`, on the device.
    pub fn checked_indices<const D: usize>(
        &self,
        name: &'static str,
        values: Vec<i64>,
        shape: [usize; D],
        limit: usize,
    ) -> Result<Tensor<B, D, Int>, ForwardError> {
        // On the host, because a kernel on a GPU would read past the table without an error.
        match values
            .iter()
            .find(|value| **value < 0 || **value >= limit as i64)
        {
            Some(&value) => Err(ForwardError::OutOfRange { name, value, limit }),
            None => Ok(self.put_indices(values, shape)),
        }
    }

    /// Integers that the model computed on the host, on the device.
    pub fn put_indices<const D: usize>(
        &self,
        values: Vec<i64>,
        shape: [usize; D],
    ) -> Tensor<B, D, Int> {
        // Rows of tables, which have fewer than 2^31.
        let values: Vec<i32> = values.into_iter().map(|value| value as i32).collect();
        Tensor::from_data(TensorData::new(values, shape), (&self.device, DType::I32))
    }

    /// Floats that the model computed on the host, on the device, in the model's type.
    pub fn put_floats<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Tensor<B, D> {
        put_floats(values, shape, &self.device, self.dtype)
    }

    /// Images [batch, channels, height, width] that must be there, of exactly the model's size.
    pub fn image(
        &self,
        name: &'static str,
        size: [usize; 3],
    ) -> Result<Tensor<B, 4>, ForwardError> {
        self.checked_image(
            name,
            |shape| shape == size,
            format!("floats of shape [batch, {size:?}]"),
        )
    }

    /// Images [batch, channels, height, width] that must be there, of any height and width.
    pub fn image_of_channels(
        &self,
        name: &'static str,
        channels: usize,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let expected = format!("floats of shape [batch, {channels}, height, width]");
        self.checked_image(name, |shape| shape[0] == channels, expected)
    }

    fn checked_image(
        &self,
        name: &'static str,
        fits: impl FnOnce(&[usize]) -> bool,
        expected: String,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let image = self.floats::<4>(name)?;
        if fits(&image.dims()[1..]) {
            return Ok(image);
        }
        Err(wrong_input(name, &image.dims(), expected))
    }

    /// Floats of `D` dimensions that must be there, in the model's type.
    pub fn floats<const D: usize>(&self, name: &'static str) -> Result<Tensor<B, D>, ForwardError> {
        let array = self
            .arrays
            .get(name)
            .ok_or(ForwardError::MissingInput { name })?;
        match (array.as_floats(), <[usize; D]>::try_from(array.shape())) {
            (Some(values), Ok(shape)) => Ok(self.put_floats(values.to_vec(), shape)),
            _ => {
                let expected = format!("floats of {D} dimensions");
                Err(wrong_input(name, array.shape(), expected))
            }
        }
    }
}

/// An argument of a shape or a type that is not what is `expected`.
pub fn wrong_input(name: &str, shape: &[usize], expected: String) -> ForwardError {
    ForwardError::WrongInput {
        name: name.to_owned(),
        found: format!("a tensor of shape {shape:?}"),
        expected,
    }
}

/// Host floats on `device`, as `dtype`, rounded to nearest even.
pub fn put_floats<B: Ops, const D: usize>(
    values: Vec<f32>,
    shape: [usize; D],
    device: &B::Device,
    dtype: DType,
) -> Tensor<B, D> {
    // The type is named because burn's default type is one for the whole process.
    Tensor::from_data(
        TensorData::new(values, shape).convert_dtype(dtype),
        (device, dtype),
    )
}

//! The arguments of a call on the device.

use crate::operators::value::DeviceTensor;
use burn_tensor::{
    BoolDType, FloatDType, get_device_settings,
    ops::{BoolTensor, FloatTensor, IntTensor},
};
use testgen_nn::backend::Ops;
use testgen_operators::calls::{Attributes, Call, CallError, Element};
use testgen_types::Operator;

/// The arguments of a call on the device.
pub(crate) struct CallArguments<'a, B: Ops> {
    pub(crate) operator: Operator,
    pub(crate) attributes: &'a Attributes,
    /// The type of the float inputs.
    pub(crate) element: Element,
    pub(crate) device: &'a B::Device,
    /// The number of devices of its kind that a call may use.
    pub(crate) devices: u16,
    inputs: Vec<DeviceTensor<B>>,
}

impl<'a, B: Ops> CallArguments<'a, B> {
    pub(crate) fn new(
        call: &'a Call,
        inputs: Vec<DeviceTensor<B>>,
        element: Element,
        device: &'a B::Device,
        devices: u16,
    ) -> Self {
        Self {
            operator: call.operator,
            attributes: &call.attributes,
            element,
            device,
            devices,
            inputs,
        }
    }

    /// All inputs.
    pub(crate) fn values(&self) -> Vec<DeviceTensor<B>> {
        // A tensor of burn is a handle: its clone has the same memory.
        self.inputs.clone()
    }

    /// An input of any kind.
    pub(crate) fn value(&self, index: usize) -> Result<DeviceTensor<B>, CallError> {
        self.inputs
            .get(index)
            .cloned()
            .ok_or_else(|| self.refused(format!("input {index} is missing")))
    }

    /// An input of floats.
    pub(crate) fn float(&self, index: usize) -> Result<FloatTensor<B>, CallError> {
        match self.value(index)? {
            DeviceTensor::Float(x) => Ok(x),
            _ => Err(self.refused(format!("input {index} is not of floats"))),
        }
    }

    /// An input of floats in f32.
    pub(crate) fn single(&self, index: usize) -> Result<FloatTensor<B>, CallError> {
        self.float(index).map(|x| B::float_cast(x, FloatDType::F32))
    }

    /// An input of floats that the call need not have.
    pub(crate) fn optional(&self, index: usize) -> Result<Option<FloatTensor<B>>, CallError> {
        (index < self.inputs.len())
            .then(|| self.float(index))
            .transpose()
    }

    /// An input of integers.
    pub(crate) fn int(&self, index: usize) -> Result<IntTensor<B>, CallError> {
        match self.value(index)? {
            DeviceTensor::Int(x) => Ok(x),
            _ => Err(self.refused(format!("input {index} is not of integers"))),
        }
    }

    /// An input of booleans.
    pub(crate) fn bool(&self, index: usize) -> Result<BoolTensor<B>, CallError> {
        match self.value(index)? {
            DeviceTensor::Bool(x) => Ok(x),
            _ => Err(self.refused(format!("input {index} is not of booleans"))),
        }
    }

    /// A number of the attributes that every case of the operator has.
    pub(crate) fn dim(&self) -> Result<usize, CallError> {
        self.attributes
            .dim
            .ok_or_else(|| self.refused("the dimension is missing".to_owned()))
    }

    /// The result of f32 in the type of the inputs.
    pub(crate) fn rounded(&self, x: FloatTensor<B>) -> DeviceTensor<B> {
        DeviceTensor::Float(B::float_cast(x, self.dtype()))
    }

    /// The type of the float inputs in burn's words.
    pub(crate) fn dtype(&self) -> FloatDType {
        match self.element {
            Element::F16 => FloatDType::F16,
            Element::Bf16 => FloatDType::BF16,
            // A call of integers alone has no type of floats, and nothing of it is rounded.
            _ => FloatDType::F32,
        }
    }

    /// The type of booleans on the device.
    pub(crate) fn truths(&self) -> BoolDType {
        get_device_settings::<B>(self.device).bool_dtype
    }

    /// The error of inputs that the operator does not take.
    pub(crate) fn refused(&self, problem: impl Into<String>) -> CallError {
        CallError::Inputs {
            operator: self.operator,
            problem: problem.into(),
        }
    }
}

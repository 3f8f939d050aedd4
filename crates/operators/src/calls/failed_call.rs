//! A failed call of a check, as a file that any machine can compute again.

use crate::calls::{call::Call, element::Element, execute::CallError, tensor::HostTensor};
use serde::{Deserialize, Serialize};
use std::path::Path;
use testgen_types::{
    Check, DeviceKind, Precision,
    bounded_file::{FileError, read_text},
    excerpt, parse_versioned,
};

/// A failed call with its reference and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedCall {
    /// [`FailedCall::VERSION`].
    pub version: u32,
    /// The name of the spec.
    pub subject: String,
    /// The check that failed.
    pub check: Check,
    /// The operator with shapes and variant, for messages.
    pub case: String,
    /// The precision of the check.
    pub precision: Precision,
    /// Whether the bounds are the bounds of TF32 although the precision is not TF32.
    pub tf32: bool,
    /// The kind of device that computed it.
    pub device: DeviceKind,
    /// Its name.
    pub device_name: Option<String>,
    /// Whether it is simulated.
    pub simulated: bool,
    /// The engine that computed it, or `None` for the native one.
    pub engine: Option<String>,
    /// Why the check failed.
    pub failure: String,
    /// The results of two further runs on the same device.
    pub again: Again,
    /// The kernels of the run with blocking launches, in the order of their first launch.
    pub kernels: Vec<LaunchedKernel>,
    /// The call.
    pub call: Call,
    /// The reference, with a bound for each element.
    pub expected: Expected,
    /// The result.
    pub actual: Actual,
}

/// The reference result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The length of every dimension.
    pub shape: Vec<usize>,
    /// The type of its elements on a device.
    pub element: Element,
    /// Its elements in f64, row-major; not rounded to `element`.
    #[serde(with = "crate::calls::tensor::numbers")]
    pub values: Vec<f64>,
    /// The largest absolute error of each element.
    #[serde(with = "crate::calls::tensor::numbers")]
    pub bounds: Vec<f64>,
}

/// The result of a call, or its error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actual {
    /// The elements.
    Computed(HostTensor),
    /// The call was not computed; the message.
    Error(String),
}

/// A run of a call compared with an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repetition {
    /// The same result bit by bit, where NaN equals NaN; or the same error.
    Same,
    /// Another result, which is wrong as well.
    OtherFailure,
    /// A result within its bounds.
    Correct,
}

/// Two further runs of a call, compared with the run that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Again {
    /// The call computed once more.
    pub plain: Repetition,
    /// The call with a wait for the device after each launch, or `None` if nothing is launched on a
    /// GPU.
    pub blocking: Option<Repetition>,
}

/// A kernel that ran on a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchedKernel {
    /// The path of its definition.
    pub name: String,
    /// 16 hexadecimal digits of the digest of its name and parameters: the same on every machine.
    pub digest: String,
}

/// A file that is not a failed call.
#[derive(Debug, thiserror::Error)]
pub enum FailedCallError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its text does not describe a failed call.
    #[error("`{path}` is not a failed call of an operator: {problem}")]
    Content {
        /// The file.
        path: String,
        /// The difference.
        problem: String,
    },
}

impl FailedCall {
    /// The version of the format.
    pub const VERSION: u32 = 1;
    /// The most elements that all tensors of a file have together.
    pub const ELEMENTS: usize = 1 << 20;
    /// The largest file in bytes: a number of f64 has at most 24 characters, and an expected one
    /// has a bound.
    pub const BYTES: u64 = 64 << 20;

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is too large, or is not a failed call.
    pub fn read(path: &Path) -> Result<Self, FailedCallError> {
        let text = read_text(path, Self::BYTES)?;
        Self::from_json(&text).map_err(|problem| FailedCallError::Content {
            path: path.display().to_string(),
            problem,
        })
    }

    /// Parses the text of a file; the error is the difference from a failed call.
    ///
    /// # Errors
    ///
    /// When the text is damaged, of another version, or has tensors that contradict their shapes.
    pub fn from_json(text: &str) -> Result<Self, String> {
        // No message repeats a large input.
        let mut call: Self = parse_versioned(text, Self::VERSION)
            .map_err(|problem| excerpt(&problem).into_owned())?;
        call.validate()?;
        call.round();
        Ok(call)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings") + "\n"
    }

    fn validate(&self) -> Result<(), String> {
        let inputs = self
            .call
            .inputs
            .iter()
            .map(|input| (&input.tensor.shape, input.tensor.len()));
        let actual = match &self.actual {
            Actual::Computed(tensor) => Some((&tensor.shape, tensor.len())),
            Actual::Error(_) => None,
        };
        let expected = (&self.expected.shape, self.expected.values.len());
        let mut elements = 0;
        for (shape, count) in inputs.chain(actual).chain([expected]) {
            // A product that overflows could equal the number of elements by chance.
            let filled = shape
                .iter()
                .try_fold(1_usize, |product, length| product.checked_mul(*length));
            if filled != Some(count) {
                return Err(format!("a tensor of shape {shape:?} has {count} elements"));
            }
            elements += count;
        }
        if self.expected.bounds.len() != self.expected.values.len() {
            return Err("the expected values and their bounds differ in number".to_owned());
        }
        if elements > Self::ELEMENTS {
            return Err(format!(
                "its tensors have {elements} elements, at most {} are read",
                Self::ELEMENTS
            ));
        }
        Ok(())
    }

    /// The parser may be off by one unit of f64; rounding to the type of the tensor restores its
    /// number.
    fn round(&mut self) {
        let actual = match &mut self.actual {
            Actual::Computed(tensor) => Some(tensor),
            Actual::Error(_) => None,
        };
        for tensor in self
            .call
            .inputs
            .iter_mut()
            .map(|input| &mut input.tensor)
            .chain(actual)
        {
            let element = tensor.element;
            tensor
                .values
                .iter_mut()
                .for_each(|value| *value = element.round(*value));
        }
    }
}

impl Actual {
    /// The result of a call.
    pub fn from_result(result: Result<HostTensor, CallError>) -> Self {
        match result {
            Ok(tensor) => Self::Computed(tensor),
            Err(error) => Self::Error(error.to_string()),
        }
    }

    /// Whether both have the same bits, where NaN equals NaN, or are the same error: its first
    /// line, because the others can have addresses and the states of other calls.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Computed(one), Self::Computed(other)) => {
                one.shape == other.shape
                    && one.element == other.element
                    && one.differing(other).next().is_none()
            }
            (Self::Error(one), Self::Error(other)) => one.lines().next() == other.lines().next(),
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "failed_call/tests.rs"]
mod tests;

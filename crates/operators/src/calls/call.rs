//! One call of an operator.

use crate::calls::{attributes::Attributes, layout::Layout, tensor::HostTensor};
use serde::{Deserialize, Serialize};
use testgen_types::Operator;

/// One call of an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The operator.
    pub operator: Operator,
    /// Its tensors, in the order of PyTorch's function.
    pub inputs: Vec<Input>,
    /// Its other arguments.
    #[serde(default)]
    pub attributes: Attributes,
}

/// An input with its layout on the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The elements.
    pub tensor: HostTensor,
    /// Their layout.
    #[serde(default)]
    pub layout: Layout,
}

impl Call {
    /// A call with row-major inputs.
    pub fn new(operator: Operator, inputs: Vec<HostTensor>, attributes: Attributes) -> Self {
        let inputs = inputs
            .into_iter()
            .map(|tensor| Input {
                tensor,
                layout: Layout::Contiguous,
            })
            .collect();
        Self {
            operator,
            inputs,
            attributes,
        }
    }

    /// The tensor of input `index`, or `None` if the call has fewer.
    pub fn tensor(&self, index: usize) -> Option<&HostTensor> {
        self.inputs.get(index).map(|input| &input.tensor)
    }

    /// The shapes of the inputs, for messages.
    pub fn shapes(&self) -> String {
        let shapes: Vec<String> = self
            .inputs
            .iter()
            .map(|input| format!("{:?}", input.tensor.shape))
            .collect();
        shapes.join(" ")
    }
}

//! Calls of single operators: tensors on the host, their layout on a device, attributes, and the interface of what computes them.
//!
//! Owns no operator: `testgen-operators` has the cases and the reference, `testgen-executor` computes calls with burn. Depends on
//! neither, so that every suite can name a call without compiling operators.

mod attributes;
mod call;
mod element;
mod execute;
mod layout;
mod tensor;

pub use attributes::{Attributes, Reduction};
pub use call::{Call, Input};
pub use element::Element;
pub use execute::{CallError, Computed, Execute};
pub use layout::Layout;
pub use tensor::{HostTensor, broadcast_shape, row_major_strides};

//! Calls of single operators: tensors on the host, their layout on a device, attributes, the
//! interface of what computes them, and the files of failed calls.
//!
//! Owns neither what an operator should return (`cases`) nor how one is computed: `testgen-models`
//! does that with burn.

mod attributes;
mod call;
mod element;
mod execute;
mod failed_call;
mod layout;
mod periodic;
mod replayed;
mod tensor;

pub use attributes::{Attributes, Reduction};
pub use call::{Call, Input};
pub use element::Element;
pub use execute::{CallError, Computed, Execute};
pub use failed_call::{
    Actual, Again, Expected, FailedCall, FailedCallError, LaunchedKernel, Repetition,
};
pub use layout::Layout;
pub use periodic::{PeriodicCall, PeriodicResult, Piece};
pub use replayed::{Reduced, ReplayOutcome, Replayed, WorstOf};
pub use tensor::{HostTensor, broadcast_shape, row_major_strides};

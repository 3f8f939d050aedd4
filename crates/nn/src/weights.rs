//! Hugging Face tensors by their own names: the safetensors files of a checkpoint, and a
//! path-scoped view over them.
//!
//! Shapes are checked when a tensor is read, every read is recorded, and unused tensors can be
//! listed.

mod error;
mod file;
mod finite;
mod header_fault;
mod index;
#[cfg(feature = "native")]
mod view;

pub use error::WeightsError;
pub use file::{Extent, element_count, extent, file_metadata, is_zero, stored_elements};
pub use finite::not_finite;
pub use header_fault::header_fault;
#[cfg(feature = "native")]
pub use view::Weights;

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

/// Where the layers of a model are between two calls.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Residency {
    /// On the device.
    #[default]
    Resident,
    /// On this number of devices, all of a kind: each has about the same number of consecutive
    /// layers.
    Split(u16),
    /// In the file: each is loaded when it is needed, and dropped after it.
    Streamed,
}

impl Residency {
    /// The number of devices that have layers.
    pub fn devices(self) -> u16 {
        match self {
            Self::Split(devices) => devices,
            // Streamed layers pass through one device, one after another.
            Self::Resident | Self::Streamed => 1,
        }
    }
}

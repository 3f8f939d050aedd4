//! Arrays, backend operations with their kernels, weights and layers: what models are built from.
//!
//! Generic over burn's backend through [`Ops`](backend::Ops). Owns no model, no configuration file and no device detection.

pub mod array;
pub mod backend;
pub mod cache;
pub mod context;
pub mod device;
pub mod forward;
pub mod heap;
pub mod inputs;
pub mod layer;
pub mod routing;
pub mod weights;

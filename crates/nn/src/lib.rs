//! Arrays, backend operations with their kernels, weights and layers: what models are built from.
//!
//! Generic over burn's backend through [`Ops`](backend::Ops). Owns no model, no configuration file
//! and no device detection.

#![cfg_attr(
    not(feature = "native"),
    allow(dead_code, reason = "facts about weights that networks read")
)]

pub mod array;
#[cfg(feature = "native")]
pub mod backend;
#[cfg(feature = "native")]
pub mod cache;
#[cfg(feature = "native")]
pub mod context;
#[cfg(feature = "native")]
pub mod device;
pub mod forward;
pub mod heap;
#[cfg(feature = "native")]
pub mod inputs;
#[cfg(feature = "native")]
pub mod layer;
#[cfg(feature = "native")]
pub mod movable;
#[cfg(feature = "native")]
pub mod routing;
#[cfg(feature = "native")]
pub mod stack;
pub mod timing;
pub mod weights;

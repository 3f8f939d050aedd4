//! The models, in a folder for each architecture, and how a checkpoint becomes one of them.
//!
//! A model is written once, generic over the backend; [`Model`] hides which one. Owns the configuration files and the
//! checkpoint's layout. Does not own layers (`testgen-nn`), input files (`testgen-processing`), nor devices.

mod bound_model;
mod capabilities;
mod checkpoint;
mod class;
mod config;
mod decode_session;
mod erased_model;
mod family;
mod load;
mod loaded;
mod network;

mod decoder_only;
mod diffusion;
mod encoder_decoder;
mod encoder_only;
mod graph;
mod moe;
mod multimodal;
mod object_detection;
mod rag;
mod speech;
mod ssm;
mod text;
mod time_series;
mod vision;
mod vision_blocks;
mod vision_text;

#[cfg(test)]
mod tests;

pub use capabilities::{Capabilities, Pooling};
pub use checkpoint::{Checkpoint, Source};
pub use class::Head;
pub use config::ConfigError;
pub use erased_model::ErasedModel;
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};
pub use multimodal::llava::tokens_of_image;
pub use rag::EMBEDDINGS;

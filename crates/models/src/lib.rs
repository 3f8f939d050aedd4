//! The models, in a folder for each architecture, and how a checkpoint becomes one of them.
//!
//! A model is written once, generic over the backend; [`Model`] hides which one. Owns the
//! configuration files and the checkpoint's layout; and single operators, composed of what the
//! models are composed of. Does not own layers (`testgen-nn`), input files (`testgen-processing`),
//! nor devices.

#![cfg_attr(
    not(feature = "architectures"),
    allow(
        unused,
        reason = "blocks that the architectures share are compiled for any of them"
    )
)]

#[cfg(feature = "native")]
mod bound_model;
mod capabilities;
mod checkpoint;
mod config;
#[cfg(feature = "native")]
mod decode_session;
#[cfg(feature = "native")]
mod definitions;
mod description;
mod erased_model;
mod load_error;
#[cfg(feature = "native")]
mod load_model;
mod model;
#[cfg(feature = "native")]
mod model_def;
#[cfg(feature = "native")]
mod native_model;
#[cfg(feature = "native")]
mod network;

#[cfg(feature = "decoder_only")]
mod decoder_only;
#[cfg(feature = "diffusion")]
mod diffusion;
#[cfg(feature = "encoder_decoder")]
mod encoder_decoder;
#[cfg(feature = "encoder_only")]
mod encoder_only;
#[cfg(feature = "graph")]
mod graph;
#[cfg(feature = "moe")]
mod moe;
#[cfg(feature = "multimodal")]
mod multimodal;
#[cfg(feature = "object_detection")]
mod object_detection;
#[cfg(feature = "operators")]
mod operators;
#[cfg(feature = "rag")]
mod rag;
#[cfg(feature = "speech")]
mod speech;
#[cfg(feature = "ssm")]
mod ssm;
mod tensor_account;
#[cfg(feature = "native")]
mod text;
#[cfg(feature = "time_series")]
mod time_series;
#[cfg(feature = "vision")]
mod vision;
#[cfg(feature = "native")]
mod vision_blocks;
#[cfg(feature = "vision_text")]
mod vision_text;

#[cfg(all(test, feature = "architectures"))]
mod tests;

pub use capabilities::{Capabilities, Pooling};
pub use checkpoint::{Checkpoint, Source};
pub use config::ConfigError;
pub use description::{Description, FieldsRead, describe};
pub use erased_model::ErasedModel;
pub use load_error::LoadError;
#[cfg(feature = "native")]
pub use load_model::load_model;
pub use model::Model;
#[cfg(feature = "operators")]
pub use operators::executor;
pub use tensor_account::TensorAccount;

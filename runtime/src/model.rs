//! A loaded model behind one type, whatever its backend, family and head.

mod bert;
mod bloom;
mod class;
mod distilbert;
mod falcon;
mod family;
mod forward;
mod gemma2;
mod gpt2;
mod gpt_neox;
mod llama;
mod llama_decoder;
mod load;
mod loaded;
mod mamba;
mod mamba2;
mod mistral;
mod mixtral;
mod network;
mod olmoe;
mod opt;
mod phi3;
mod qwen2;
mod qwen3;
mod qwen3_moe;
mod resnet;
mod sliding_windows;
mod state_model;
mod stepper;
mod text_head;
mod text_model;
mod vit;

pub use class::Head;
pub use forward::{Forward, ForwardError, Placement, Session};
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};
#[cfg(test)]
pub(crate) use network::Run;
pub(crate) use network::{Inputs, Pass};

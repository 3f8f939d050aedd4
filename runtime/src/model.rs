//! A loaded model behind one type, whatever its backend, family and head.

mod bart;
mod bart_stack;
mod bert;
mod class;
mod distilbert;
mod encoder_decoder;
mod family;
mod forward;
mod gpt2;
mod llama;
mod llama_decoder;
mod load;
mod loaded;
mod marian;
mod mistral;
mod network;
mod qwen2;
mod resnet;
mod t5;
mod text_head;
mod text_model;
mod vit;
mod wav2vec2;
mod whisper;

pub use class::Head;
pub use forward::{Forward, ForwardError, Placement, Session};
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};
#[cfg(test)]
pub(crate) use network::Run;
pub(crate) use network::{Inputs, Pass};

//! A loaded model behind one type, whatever its backend, family and head.

mod bert;
mod class;
mod clip;
mod distilbert;
mod family;
mod forward;
mod gpt2;
mod llama;
mod llama_decoder;
mod load;
mod loaded;
mod mistral;
mod network;
mod patchtst;
mod qwen2;
mod resnet;
mod siglip;
mod text_head;
mod text_model;
mod tower;
mod two_towers;
mod vit;

pub use class::Head;
pub use forward::{Forward, ForwardError, Placement, Session};
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};
#[cfg(test)]
pub(crate) use network::Run;
pub(crate) use network::{Inputs, Pass, Pooling};

//! A loaded model behind one type, whatever its backend, family and head.

mod albert;
mod autoencoder_kl;
mod bert;
mod bert_encoder;
mod class;
mod clip;
mod convnext;
mod diffusion;
mod dinov2;
mod distilbert;
mod electra;
mod family;
mod forward;
mod gpt2;
mod gpt_neox;
mod llama;
mod llama_decoder;
mod llava;
mod load;
mod loaded;
mod mistral;
mod mpnet;
mod network;
mod patchtst;
mod phi3;
mod qwen2;
mod qwen3;
mod resnet;
mod siglip;
mod sliding_windows;
mod stepper;
mod swin;
mod swin_layer;
mod text_embeddings;
mod text_head;
mod text_model;
mod tower;
mod two_towers;
mod unet;
mod vision_transformer;
mod vit;

pub use class::Head;
pub use forward::{Forward, ForwardError, Placement, Session};
pub(crate) use llava::tokens_of_image;
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};
#[cfg(test)]
pub(crate) use network::Run;

pub(crate) use network::{Inputs, Pass, Pooling};

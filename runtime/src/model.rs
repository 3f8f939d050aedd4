//! A loaded model behind one type, whatever its backend, family and head.

mod albert;
mod autoencoder_kl;
mod bart;
mod bart_stack;
mod bert;
mod bert_encoder;
mod bert_fields;
mod bloom;
mod causal_decoder;
mod class;
mod clip;
mod convnext;
mod deberta_v2;
mod deberta_v2_encoder;
mod detection_head;
mod detr;
mod detr_layer;
mod detr_positions;
mod diffusion;
mod dinov2;
mod distilbert;
mod electra;
mod encoder_decoder;
mod falcon;
mod family;
mod forward;
mod gemma2;
mod gpt2;
mod gpt_neox;
mod graphormer;
mod llama;
mod llama_decoder;
mod llama_variant;
mod llava;
mod load;
mod loaded;
mod mamba;
mod mamba2;
mod marian;
mod mistral;
mod mixtral;
mod modernbert;
mod modernbert_config;
mod modernbert_layer;
mod mpnet;
mod network;
mod olmoe;
mod opt;
mod patchtst;
mod phi3;
mod qwen2;
mod qwen3;
mod qwen3_moe;
mod resnet;
mod siglip;
mod sliding_windows;
mod state_model;
mod stepper;
mod swin;
mod swin_layer;
mod t5;
mod text_embeddings;
mod text_head;
mod text_model;
mod tower;
mod two_towers;
mod unet;
mod vision_transformer;
mod vit;
mod wav2vec2;
mod whisper;
mod yolos;

pub use class::Head;
pub use forward::{Forward, ForwardError, Placement, Session};
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};

pub(crate) use llava::tokens_of_image;
pub(crate) use network::{Inputs, Pass, Pooling};

#[cfg(test)]
pub(crate) use network::Run;

#[cfg(test)]
mod tests;

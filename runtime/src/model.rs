//! A loaded model behind one type, whatever its backend, family and head.

mod albert;
mod bart;
mod bart_stack;
mod bert;
mod bert_encoder;
mod bloom;
mod class;
mod clip;
mod convnext;
mod deberta_v2;
mod deberta_v2_encoder;
mod detection_head;
mod detr;
mod detr_layer;
mod detr_positions;
mod dinov2;
mod distilbert;
mod electra;
mod encoder_decoder;
mod falcon;
mod family;
mod forward;
mod gpt2;
mod gpt_neox;
mod llama;
mod llama_decoder;
mod load;
mod loaded;
mod marian;
mod mistral;
mod modernbert;
mod modernbert_config;
mod modernbert_layer;
mod mpnet;
mod network;
mod opt;
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
mod t5;
mod text_embeddings;
mod text_head;
mod text_model;
mod tower;
mod two_towers;
mod vision_transformer;
mod vit;
mod yolos;

pub use class::Head;
pub use forward::{Forward, ForwardError, Placement, Session};
pub use load::{LoadError, load};
pub use loaded::{Model, TensorAccount};

pub(crate) use network::{Inputs, Pass, Pooling};

#[cfg(test)]
pub(crate) use network::Run;

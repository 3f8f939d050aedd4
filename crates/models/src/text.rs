//! Blocks that models of several architectures with text share: embeddings, encoder and decoder
//! stacks, heads.

pub(crate) mod backbone;
pub(crate) mod bart_layers;
pub(crate) mod bert_encoder;
pub(crate) mod bert_fields;
pub(crate) mod causal_decoder;
pub(crate) mod encoder_decoder;
pub(crate) mod llama_decoder;
pub(crate) mod llama_layer;
pub(crate) mod llama_shape;
pub(crate) mod llama_variant;
pub(crate) mod sliding_windows;
pub(crate) mod text_embeddings;
pub(crate) mod text_head;
pub(crate) mod text_model;
pub(crate) mod token_embeddings;

//! Text decoders.

pub(crate) mod bloom;
pub(crate) mod falcon;
pub(crate) mod gemma;
pub(crate) mod gpt2;
pub(crate) mod gpt_neox;
pub(crate) mod llama;
pub(crate) mod olmo2;
pub(crate) mod opt;
pub(crate) mod phi3;
pub(crate) mod qwen2;
pub(crate) mod qwen3;

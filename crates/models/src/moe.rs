//! Decoders with a mixture of experts.

pub(crate) mod mixtral;
pub(crate) mod olmoe;
pub(crate) mod qwen3_moe;

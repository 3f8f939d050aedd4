//! Encoder-decoders of text.

pub(crate) mod bart;
pub(crate) mod marian;
pub(crate) mod pegasus;
pub(crate) mod t5;

//! Text encoders.

pub(crate) mod albert;
pub(crate) mod bert;
pub(crate) mod deberta_v2;
pub(crate) mod deberta_v2_encoder;
pub(crate) mod distilbert;
pub(crate) mod electra;
pub(crate) mod modernbert;
pub(crate) mod modernbert_config;
pub(crate) mod modernbert_layer;
pub(crate) mod mpnet;
pub(crate) mod roberta;

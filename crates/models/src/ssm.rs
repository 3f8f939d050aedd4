//! State space models.

pub(crate) mod mamba;
pub(crate) mod mamba2;
pub(crate) mod state_model;

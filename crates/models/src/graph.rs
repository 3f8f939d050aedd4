//! Graph encoders.

pub(crate) mod graphormer;

//! Models of time series.

pub(crate) mod patchtst;

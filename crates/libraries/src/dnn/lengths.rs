//! Lengths and strides as both libraries take them.

use std::ffi::c_int;

/// Lengths or strides as the libraries take them. `None` for one that does not fit.
pub(super) fn lengths(shape: &[usize]) -> Option<Vec<c_int>> {
    shape
        .iter()
        .map(|length| c_int::try_from(*length).ok())
        .collect()
}

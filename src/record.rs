//! Recording goldens.

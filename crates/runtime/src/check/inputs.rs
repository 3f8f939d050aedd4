//! Inputs that checks make: from recorded ones, or new ones of other lengths and batch sizes.

pub(super) mod graphs;
pub(super) mod padding;
pub(super) mod rows;
pub(super) mod sequences;
pub(super) mod stream;
pub(super) mod text_facts;

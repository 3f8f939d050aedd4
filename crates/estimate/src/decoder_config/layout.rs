//! The properties in which the layers of causal decoders differ.

use crate::product::Order;

/// How query, key and value are projected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectionKind {
    /// A matrix for each.
    Apart,
    /// Parts of one matrix.
    Joined(Order),
}

/// How positions enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PositionEncoding {
    /// A table that is added to the embeddings, with so many rows.
    Table(u64),
    /// Rotation of the first elements of each head, so many of them.
    Rotary(u64),
    /// A bias for each head.
    Alibi,
}

/// The order of norms, attention and MLP in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// Norms before attention and MLP.
    Before,
    /// Norms of the outputs of attention and MLP.
    AfterEach,
    /// Norms of the sums.
    AfterSums,
    /// Norms before and after attention and MLP.
    Around,
    /// Attention and MLP read the input of the layer; `shared`: after the same norm.
    Parallel { shared: bool },
    /// As `Before`, and the norm's result is what the sum adds to.
    AddsToNorm,
}

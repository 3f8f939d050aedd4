//! The layer that a step computes, and what it reads beside its state.

/// One layer in a call of its stack.
pub struct LayerStep<'s, L, R> {
    /// The number of layers that were computed before it.
    pub depth: usize,
    /// The layer.
    pub layer: &'s L,
    /// The tensors that all layers read, on the device of this one.
    pub shared: &'s mut R,
}

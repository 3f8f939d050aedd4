//! Comparisons that several checks share: how outputs are matched, split and compared.

pub(super) mod cached_sequences;
pub(super) mod graph_padding;
pub(super) mod hidden_states;
pub(super) mod implementations;
pub(super) mod outputs_by_position;
pub(super) mod routing;

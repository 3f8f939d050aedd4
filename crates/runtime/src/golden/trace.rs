//! The names of recorded hidden states, and their order in the computation.

/// The prefixes of names, in the order in which a model runs its stacks of layers.
const STACKS: [&str; 4] = ["", "question.", "encoder.", "decoder."];

/// The position of a hidden state in the computation. The derived order is the order of the
/// computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TracePosition {
    /// The index in [`STACKS`].
    stack: usize,
    /// 0 for the embedding, `i + 1` for layer `i`.
    depth: usize,
}

impl TracePosition {
    /// None for a name outside the format.
    pub(super) fn parse(name: &str) -> Option<Self> {
        // From the end, because the first prefix is empty and every name starts with it.
        let (stack, rest) = STACKS
            .iter()
            .enumerate()
            .rev()
            .find_map(|(stack, prefix)| name.strip_prefix(prefix).map(|rest| (stack, rest)))?;
        let depth = match rest {
            "embed" => 0,
            _ => rest
                .strip_prefix("layer.")?
                .parse::<usize>()
                .ok()?
                .checked_add(1)?,
        };
        Some(Self { stack, depth })
    }

    pub(super) fn name(self) -> String {
        let prefix = STACKS[self.stack];
        match self.depth.checked_sub(1) {
            None => format!("{prefix}embed"),
            Some(layer) => format!("{prefix}layer.{layer}"),
        }
    }
}

//! All forms of lines. A form that is more special precedes the others with its signature.

mod bars;
mod blocks;
mod dictionaries;
mod megatron;
mod pytorch;

use super::definition::{LogBlock, LogDefinition};

/// All forms with the numbers of a step on one line.
pub(super) fn definitions() -> impl Iterator<Item = &'static LogDefinition> {
    [
        megatron::DEFINITIONS,
        pytorch::DEFINITIONS,
        dictionaries::DEFINITIONS,
        bars::DEFINITIONS,
    ]
    .into_iter()
    .flatten()
}

/// All forms with a heading.
pub(super) const BLOCKS: &[LogBlock] = blocks::BLOCKS;

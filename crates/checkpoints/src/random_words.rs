//! The random words that belong to a text: Philox4x64-10 of Random123 under the SHA-256 of the
//! text.
//!
//! `python/record/random_numbers.py` computes the same words with numpy, whose generator counts from
//! one, too.

use crate::philox;
use sha2::{Digest, Sha256};

/// The words of a block.
pub(crate) const WORDS: u64 = 4;

/// Random words of 64 bits, the same on every machine.
#[derive(Debug, Clone, Copy)]
pub struct RandomWords {
    key: [u64; 2],
}

impl RandomWords {
    /// The words of `text`.
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        Self {
            // Half of the digest, because the key of this Philox has two words.
            key: [&digest[..8], &digest[8..16]].map(little_endian),
        }
    }

    /// The first `count` words.
    pub fn first(&self, count: u64) -> impl Iterator<Item = u64> + '_ {
        let blocks = (0..count.div_ceil(WORDS)).flat_map(|block| self.block(block));
        blocks.take(count as usize)
    }

    /// Four words, those from `block * WORDS` on.
    #[inline]
    pub(crate) fn block(&self, block: u64) -> [u64; 4] {
        // numpy increments its counter before the first block.
        philox::block([block + 1, 0, 0, 0], self.key)
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

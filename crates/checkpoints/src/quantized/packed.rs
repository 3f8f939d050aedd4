//! Codes of a few bits in 32-bit words.

/// The code `index` of a stream of `bits` each, the lowest bits of the first word first. A code may
/// begin in one word and end in the next.
pub(super) fn code(word: impl Fn(usize) -> u32, index: usize, bits: usize) -> u32 {
    let (first, shift) = (index * bits / 32, index * bits % 32);
    // Two words, because a code may begin in the last bits of the first one.
    let mut value = u64::from(word(first));
    // Only then: the last code must not read a word after the end.
    if shift + bits > 32 {
        value |= u64::from(word(first + 1)) << 32;
    }
    // Codes have at most 8 bits.
    ((value >> shift) & ((1 << bits) - 1)) as u32
}

/// The words that `count` codes take.
pub(super) fn words(count: usize, bits: usize) -> usize {
    count.saturating_mul(bits).div_ceil(32)
}

/// The number of bits with which `count` codes take `words` words.
pub(super) fn bits(count: usize, found: usize) -> Option<usize> {
    (1..=8).find(|&bits| words(count, bits) == found)
}

/// The words of a stream of `codes`, which fill the last word.
pub(super) fn pack(codes: &[u32], bits: usize) -> Vec<u32> {
    let mut packed = vec![0; words(codes.len(), bits)];
    for (index, code) in codes.iter().enumerate() {
        let (first, shift) = (index * bits / 32, index * bits % 32);
        // Bits beyond the word are dropped here, and follow in the next one.
        packed[first] |= code << shift;
        if shift + bits > 32 {
            packed[first + 1] |= code >> (32 - shift);
        }
    }
    packed
}

/// The bytes of words.
pub(super) fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

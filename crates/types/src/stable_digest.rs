//! A digest of a text or of bytes that is the same on every machine and in every version of the
//! compiler.

/// FNV-1a in 64 bits, as 16 hexadecimal digits.
pub fn stable_digest(content: impl AsRef<[u8]>) -> String {
    // Not the hasher of std, whose values may change with the version of Rust: reports are kept.
    let bytes = content.as_ref().iter();
    // The offset and the prime are the ones that FNV defines for 64 bits.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::stable_digest;

    #[test]
    fn the_digest_is_that_of_the_reference() {
        // Of http://www.isthe.com/chongo/tech/comp/fnv.
        assert_eq!(stable_digest(""), "cbf29ce484222325");
        assert_eq!(stable_digest("foobar"), "85944171f73967e8");
    }
}

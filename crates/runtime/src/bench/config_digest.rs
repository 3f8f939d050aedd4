//! A digest of a checkpoint's configuration: two reports with different ones are about different
//! models.

use testgen_models::Checkpoint;

/// The digest of the configuration, or `None` if it cannot be read.
pub(super) fn of_checkpoint(checkpoint: &Checkpoint) -> Option<String> {
    // Keys are sorted, so that the order of a file does not matter.
    checkpoint
        .config()
        .ok()
        .map(|config| digest(&config.to_string()))
}

/// FNV-1a, in 64 bits.
fn digest(text: &str) -> String {
    // Not the hasher of std, whose values may change with the version of Rust: reports are kept.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn the_digest_is_that_of_the_reference() {
        // Of http://www.isthe.com/chongo/tech/comp/fnv.
        assert_eq!(digest(""), "cbf29ce484222325");
        assert_eq!(digest("foobar"), "85944171f73967e8");
    }
}

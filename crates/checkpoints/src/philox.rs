//! The random numbers: Philox4x64-10 of Random123 (Salmon et al., "Parallel random numbers: as easy
//! as 1, 2, 3", 2011), the function of `numpy.random.Philox`.

const ROUNDS: usize = 10;
const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
/// The words that are added to the key after each round.
const KEY_STEPS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];

/// The four words of a counter under a key.
#[inline]
pub(crate) fn block(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for _ in 0..ROUNDS {
        let (high_0, low_0) = product(MULTIPLIERS[0], counter[0]);
        let (high_1, low_1) = product(MULTIPLIERS[1], counter[2]);
        counter = [
            high_1 ^ counter[1] ^ key[0],
            low_1,
            high_0 ^ counter[3] ^ key[1],
            low_0,
        ];
        key[0] = key[0].wrapping_add(KEY_STEPS[0]);
        key[1] = key[1].wrapping_add(KEY_STEPS[1]);
    }
    counter
}

/// The upper and the lower half of a product of 128 bits.
#[inline]
fn product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

#[cfg(test)]
mod tests {
    use super::block;

    /// The vectors `philox4x64 10` of Random123's `kat_vectors`.
    #[test]
    fn the_known_answers_of_random123() {
        let zeros = [
            0x1655_4d9e_ca36_314c,
            0xdb20_fe9d_672d_0fdc,
            0xd7e7_72ce_e186_176b,
            0x7e68_b68a_ec7b_a23b,
        ];
        let ones = [
            0x87b0_92c3_013f_e90b,
            0x438c_3c67_be8d_0224,
            0x9cc7_d7c6_9cd7_77b6,
            0xa09c_aebf_594f_0ba0,
        ];
        assert_eq!(block([0; 4], [0; 2]), zeros);
        assert_eq!(block([u64::MAX; 4], [u64::MAX; 2]), ones);
    }
}

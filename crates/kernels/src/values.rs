//! The numbers of a factor: random, the same in every run, and exact in the factor's type.

use half::{bf16, f16};
use testgen_operators::calls::Element;
use testgen_types::Precision;

/// `count` numbers from -1 to 1.
pub(crate) fn random(count: usize, seed: u64, precision: Precision) -> Vec<f64> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        // xorshift
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // The 53 bits that f64 keeps.
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    // Rounded, so that the exact product has the factors that the kernel reads.
    (0..count)
        .map(|_| Element::for_precision(precision).round(next()))
        .collect()
}

/// Bytes of one element.
pub(crate) fn width(precision: Precision) -> usize {
    match precision {
        Precision::F32 | Precision::Tf32 => 4,
        Precision::F16 | Precision::Bf16 => 2,
    }
}

/// Writes a number into the bytes of one element.
pub(crate) fn write(value: f64, precision: Precision, bytes: &mut [u8]) {
    match precision {
        Precision::F32 | Precision::Tf32 => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
        // `half` may round twice, by f32; `random` has rounded already, so that nothing is left to
        // round.
        Precision::F16 => bytes.copy_from_slice(&f16::from_f64(value).to_ne_bytes()),
        Precision::Bf16 => bytes.copy_from_slice(&bf16::from_f64(value).to_ne_bytes()),
    }
}

/// The numbers in `bytes`.
pub(crate) fn read(bytes: &[u8], precision: Precision) -> Vec<f64> {
    match precision {
        Precision::F32 | Precision::Tf32 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f64::from(f32::from_ne_bytes(*bytes)))
            .collect(),
        Precision::F16 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f16::from_ne_bytes(*bytes).to_f64())
            .collect(),
        Precision::Bf16 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| bf16::from_ne_bytes(*bytes).to_f64())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Precision, random, read, width, write};

    #[test]
    fn numbers_are_exact_in_their_type_and_differ() {
        for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
            let numbers = random(100, 1, precision);
            let mut bytes = vec![0; 100 * width(precision)];
            for (number, bytes) in numbers.iter().zip(bytes.chunks_exact_mut(width(precision))) {
                write(*number, precision, bytes);
            }
            assert_eq!(read(&bytes, precision), numbers);
            assert!(numbers.iter().all(|number| number.abs() <= 1.0));
            assert_ne!(random(100, 2, precision), numbers);
        }
    }
}

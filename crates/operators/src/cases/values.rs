//! The numbers of inputs: random, the same in every run, exact in their type.

use crate::calls::{Element, HostTensor};

/// A source of random numbers: xorshift64*, seeded by a text and a number.
pub(crate) struct XorShift64(u64);

impl XorShift64 {
    /// The same numbers for the same text and number.
    pub(crate) fn new(text: &str, number: usize) -> Self {
        // FNV-1a.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The golden ratio in 64 bits: neighbouring numbers have states that differ in many bits.
        let state = hash ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Zero is a fixed point of xorshift.
        Self(state | 1)
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        // The 53 bits that f64 keeps.
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn integer(&mut self, low: i64, high: i64) -> i64 {
        low + (self.unit() * (high - low + 1) as f64) as i64
    }

    /// A tensor of numbers from `low` to `high`.
    pub(crate) fn floats(
        &mut self,
        shape: &[usize],
        element: Element,
        [low, high]: [f64; 2],
    ) -> HostTensor {
        self.filled(shape, element, |random| low + (high - low) * random.unit())
    }

    /// A tensor of numbers whose absolute value is from `low` to `high`, with either sign.
    pub(crate) fn signed(
        &mut self,
        shape: &[usize],
        element: Element,
        [low, high]: [f64; 2],
    ) -> HostTensor {
        self.filled(shape, element, |random| {
            let sign = if random.unit() < 0.5 { -1.0 } else { 1.0 };
            sign * (low + (high - low) * random.unit())
        })
    }

    /// A tensor of whole numbers from `low` to `high`, both included.
    pub(crate) fn integers(
        &mut self,
        shape: &[usize],
        element: Element,
        [low, high]: [i64; 2],
    ) -> HostTensor {
        self.filled(shape, element, |random| random.integer(low, high) as f64)
    }

    fn filled(
        &mut self,
        shape: &[usize],
        element: Element,
        mut value: impl FnMut(&mut Self) -> f64,
    ) -> HostTensor {
        let count: usize = shape.iter().product();
        let values = (0..count).map(|_| value(self)).collect();
        HostTensor::new(shape, element, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_the_text_and_the_number() {
        let numbers =
            |text, number| XorShift64::new(text, number).floats(&[100], Element::Bf16, [-1.0, 1.0]);
        assert_eq!(numbers("add", 0), numbers("add", 0));
        assert_ne!(numbers("add", 0), numbers("add", 1));
        assert_ne!(numbers("add", 0), numbers("sub", 0));
        assert!(
            numbers("add", 0)
                .values
                .iter()
                .all(|value| value.abs() <= 1.0)
        );
        let integers = XorShift64::new("add", 0)
            .integers(&[1000], Element::I32, [-2, 2])
            .values;
        assert!((-2..=2).all(|value| integers.contains(&f64::from(value))));
    }
}

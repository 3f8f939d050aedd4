//! The formats of 8 bits of gfx942: without infinities and negative zero, whose code is NaN.

/// A format of 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Float8Fnuz {
    mantissa_bits: u32,
    bias: i32,
}

impl Float8Fnuz {
    pub(crate) const E4M3: Self = Self {
        mantissa_bits: 3,
        bias: 8,
    };
    pub(crate) const E5M2: Self = Self {
        mantissa_bits: 2,
        bias: 16,
    };

    /// The number of a code.
    pub(crate) fn decode(self, code: u8) -> f64 {
        if code == 0x80 {
            return f64::NAN;
        }
        let magnitude = u32::from(code & 0x7f);
        let exponent = (magnitude >> self.mantissa_bits).cast_signed();
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        // Subnormal numbers have no leading one, and the exponent of the smallest normal number.
        let leading = if exponent == 0 {
            0
        } else {
            1 << self.mantissa_bits
        };
        let power = exponent.max(1) - self.bias - self.mantissa_bits.cast_signed();
        let value = f64::from(mantissa + leading) * 2_f64.powi(power);
        if code & 0x80 == 0 { value } else { -value }
    }
}

#[cfg(test)]
mod tests {
    use super::Float8Fnuz;

    /// AMD's documentation of the formats: the largest, the smallest normal and subnormal numbers.
    #[test]
    fn codes_are_decoded() {
        let of = |format: Float8Fnuz, codes: [u8; 3]| codes.map(|code| format.decode(code));
        assert_eq!(
            of(Float8Fnuz::E4M3, [0x7f, 0x08, 0x01]),
            [240.0, 2_f64.powi(-7), 2_f64.powi(-10)]
        );
        assert_eq!(
            of(Float8Fnuz::E5M2, [0x7f, 0x04, 0x01]),
            [57_344.0, 2_f64.powi(-15), 2_f64.powi(-17)]
        );
        assert_eq!(Float8Fnuz::E4M3.decode(0xc0), -1.0);
        assert!(Float8Fnuz::E4M3.decode(0x80).is_nan());
    }
}

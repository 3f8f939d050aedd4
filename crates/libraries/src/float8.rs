//! The four formats of 8 bits: two of the Open Compute Project (OFP8 1.0), and the two of gfx942
//! without infinities and negative zero.

/// A format of 8 bits: a sign, exponent and mantissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Float8 {
    mantissa_bits: u32,
    bias: i32,
    specials: Specials,
}

/// The codes that are not finite numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// As in IEEE 754: the largest exponent is infinity and NaN.
    Ieee,
    /// All bits set are NaN.
    AllOnes,
    /// The code of negative zero is NaN.
    NegativeZero,
}

impl Float8 {
    pub(crate) const E4M3: Self = Self {
        mantissa_bits: 3,
        bias: 7,
        specials: Specials::AllOnes,
    };
    pub(crate) const E5M2: Self = Self {
        mantissa_bits: 2,
        bias: 15,
        specials: Specials::Ieee,
    };
    pub(crate) const E4M3_FNUZ: Self = Self {
        mantissa_bits: 3,
        // One more than in the format of the Open Compute Project: a code has half its value.
        bias: 8,
        specials: Specials::NegativeZero,
    };
    pub(crate) const E5M2_FNUZ: Self = Self {
        mantissa_bits: 2,
        bias: 16,
        specials: Specials::NegativeZero,
    };

    /// The number of a code.
    pub(crate) fn decode(self, code: u8) -> f64 {
        let magnitude = u32::from(code & 0x7f);
        let (exponent, mantissa) = (
            magnitude >> self.mantissa_bits,
            magnitude & ((1 << self.mantissa_bits) - 1),
        );
        let largest_exponent = 0x7f >> self.mantissa_bits;
        let special = match self.specials {
            Specials::Ieee => exponent == largest_exponent,
            Specials::AllOnes => magnitude == 0x7f,
            Specials::NegativeZero => code == 0x80,
        };
        let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
        match (special, exponent) {
            (true, _) if self.specials == Specials::Ieee && mantissa == 0 => sign * f64::INFINITY,
            (true, _) => f64::NAN,
            // Subnormal: no leading one, and the step of the first exponent.
            (false, 0) => sign * f64::from(mantissa) * self.step(1),
            (false, _) => {
                sign * f64::from(mantissa + (1 << self.mantissa_bits)) * self.step(exponent)
            }
        }
    }

    /// The code of the nearest number, ties to an even code; numbers beyond the largest saturate.
    pub(crate) fn encode(self, value: f64) -> u8 {
        if value.is_nan() {
            // Without negative zero, 0x7f is the largest number.
            return if self.specials == Specials::NegativeZero {
                0x80
            } else {
                0x7f
            };
        }
        let distance = |code: u8| (self.decode(code) - value.abs()).abs();
        // A search of all codes has no cases for subnormal numbers, ties and saturation.
        let finite = (0..=0x7f_u8).filter(|code| self.decode(*code).is_finite());
        // Neighbouring codes are neighbouring numbers, so an even code has an even mantissa.
        let nearest = finite.min_by(|a, b| {
            distance(*a)
                .total_cmp(&distance(*b))
                .then((a % 2).cmp(&(b % 2)))
        });
        let code = nearest.unwrap_or(0);
        // In formats without negative zero its code is NaN.
        let has_sign =
            value.is_sign_negative() && (code != 0 || self.specials != Specials::NegativeZero);
        if has_sign { code | 0x80 } else { code }
    }

    /// The distance between two numbers of an exponent.
    fn step(self, exponent: u32) -> f64 {
        2_f64.powi(exponent.cast_signed() - self.bias - self.mantissa_bits.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::Float8;

    #[test]
    fn limits_are_those_of_the_formats() {
        let formats = [
            (Float8::E4M3, 448.0, 2_f64.powi(-9)),
            (Float8::E5M2, 57_344.0, 2_f64.powi(-16)),
            (Float8::E4M3_FNUZ, 240.0, 2_f64.powi(-10)),
            (Float8::E5M2_FNUZ, 57_344.0, 2_f64.powi(-17)),
        ];
        for (format, largest, smallest) in formats {
            assert_eq!(format.decode(format.encode(1e9)), largest);
            assert_eq!(format.decode(1), smallest);
            assert_eq!(format.decode(format.encode(1.0)), 1.0);
            assert!(format.decode(format.encode(f64::NAN)).is_nan());
        }
        assert_eq!(Float8::E5M2.decode(0x7c), f64::INFINITY);
        assert_eq!(
            [Float8::E4M3.encode(-0.0), Float8::E4M3_FNUZ.encode(-0.0)],
            [0x80, 0]
        );
    }

    #[test]
    fn every_finite_code_is_its_own_nearest() {
        for format in [
            Float8::E4M3,
            Float8::E5M2,
            Float8::E4M3_FNUZ,
            Float8::E5M2_FNUZ,
        ] {
            let finite = (0..=255_u8).filter(|code| format.decode(*code).is_finite());
            finite.for_each(|code| assert_eq!(format.encode(format.decode(code)), code));
        }
        // 17 is between 16 and 18, whose mantissas are 0 and 1.
        assert_eq!(Float8::E4M3.decode(Float8::E4M3.encode(17.0)), 16.0);
    }
}

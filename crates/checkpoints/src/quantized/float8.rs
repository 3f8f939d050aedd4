//! Floats of 8 and 4 bits: their numbers, and the nearest of them to a number.

use super::rounding::nearest;
use half::f16;

/// OCP's E4M3: 4 bits of exponent with the bias 7, 3 of mantissa, no infinity, two NaN.
pub(super) fn e4m3(byte: u8) -> f32 {
    match byte & 0x7F {
        0x7F => f32::NAN,
        bits => signed(byte, magnitude(bits, 7)),
    }
}

/// E4M3 of MI300: the bias is 8, 0x80 is the only NaN, and there is no negative zero.
pub(super) fn e4m3fnuz(byte: u8) -> f32 {
    match byte {
        0x80 => f32::NAN,
        _ => signed(byte, magnitude(byte & 0x7F, 8)),
    }
}

/// OCP's E5M2: the upper half of an f16.
pub(super) fn e5m2(byte: u8) -> f32 {
    f16::from_bits(u16::from(byte) << 8).to_f32()
}

/// OCP's E8M0: a power of two with the bias 127, 255 is NaN.
pub(super) fn e8m0(byte: u8) -> f32 {
    match byte {
        // 2^-127 is subnormal in f32, where the exponent's bits would mean 0.
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(byte) << 23),
    }
}

/// OCP's E2M1, four bits: a sign, and the magnitudes 0 to 6.
pub(super) fn e2m1(code: u8) -> f32 {
    const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let magnitude = MAGNITUDES[usize::from(code & 7)];
    if code & 8 == 0 { magnitude } else { -magnitude }
}

/// The codes of numbers in a type of at most 8 bits.
pub(super) struct SmallFloats {
    /// The magnitudes, in the order of their codes.
    magnitudes: Vec<f32>,
    /// The bit of the sign.
    sign: u8,
}

impl SmallFloats {
    /// The codes of the type with `bits` bits whose numbers are those of `decode`.
    pub(super) fn new(bits: u32, decode: fn(u8) -> f32) -> Self {
        let sign = 1 << (bits - 1);
        let magnitudes = (0..sign).map(decode);
        Self {
            // The largest code of some types is not a number.
            magnitudes: magnitudes.filter(|number| !number.is_nan()).collect(),
            sign,
        }
    }

    /// The largest number.
    pub(super) fn largest(&self) -> f32 {
        self.magnitudes.iter().copied().fold(0.0, f32::max)
    }

    /// The code of the nearest number.
    pub(super) fn code(&self, value: f32) -> u8 {
        match nearest(&self.magnitudes, value.abs()) as u8 {
            // Zero has no sign: MI300 reads a negative one as not a number.
            0 => 0,
            code if value < 0.0 => code | self.sign,
            code => code,
        }
    }
}

/// The absolute value of seven bits of E4M3.
fn magnitude(bits: u8, bias: i32) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 3), f32::from(bits & 7));
    match exponent {
        // Subnormal.
        0 => mantissa * 2f32.powi(1 - bias - 3),
        // 8 is the implicit leading bit, in units of the mantissa's last bit.
        _ => (8.0 + mantissa) * 2f32.powi(exponent - bias - 3),
    }
}

fn signed(byte: u8, magnitude: f32) -> f32 {
    if byte & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::{SmallFloats, e2m1, e4m3, e4m3fnuz};

    #[test]
    fn each_number_has_its_code_and_larger_ones_that_of_the_largest() {
        for (bits, decode, largest) in [
            (8, e4m3 as fn(u8) -> f32, 448.0),
            (8, e4m3fnuz, 240.0),
            (4, e2m1, 6.0),
        ] {
            let floats = SmallFloats::new(bits, decode);
            assert_eq!(floats.largest(), largest);
            let codes = (0..=u8::MAX).take(1 << bits);
            for code in codes.filter(|code| !decode(*code).is_nan() && decode(*code) != 0.0) {
                assert_eq!(floats.code(decode(code)), code);
            }
            assert_eq!(floats.code(-0.0), 0);
            assert_eq!(decode(floats.code(-1e9)), -largest);
        }
    }
}

//! Floats of 8 bits, as numbers.

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

/// The absolute value of seven bits of E4M3.
fn magnitude(bits: u8, bias: i32) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 3), f32::from(bits & 7));
    match exponent {
        // Subnormal.
        0 => mantissa * 2f32.powi(1 - bias - 3),
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

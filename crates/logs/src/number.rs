//! Numbers as Python, C and JAX print them: `1,234.5`, `1.07E+01`, `nan`, `-inf`, `'0.5'`,
//! `[5e-05]`.

/// The longest number that is read.
// Longer ones are not numbers of a log.
const LONGEST: usize = 48;

/// The number at the start of `text`, after spaces, a quote and a bracket, and the position after
/// it.
pub(super) fn at_start(text: &[u8]) -> Option<(f64, usize)> {
    let start = text
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\'' | b'"' | b'['))?;
    let length = length(&text[start..])?;
    Some((parse(&text[start..start + length])?, start + length))
}

/// The number at the end of `text`.
pub(super) fn at_end(text: &[u8]) -> Option<f64> {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b'+' | b'-');
    // A line can have a mebibyte, and a number is at its end. With one more byte than a number has,
    // a longer token is not read as its last digits.
    let tail = &text[text.len().saturating_sub(LONGEST + 1)..];
    let start = tail
        .iter()
        .rposition(|byte| !is_part(byte))
        .map_or(0, |position| position + 1);
    let token = &tail[start..];
    // All of the token: `1.5K` would lose its unit.
    (length(token)? == token.len()).then(|| parse(token))?
}

/// The whole number at the start of `text`, after spaces, and the position after it.
pub(super) fn whole_at_start(text: &[u8]) -> Option<(u64, usize)> {
    let (value, end) = at_start(text)?;
    // At most 2^53, which f64 has exactly.
    Some((whole(value)?, end))
}

/// The value without its fraction.
pub(super) fn whole(value: f64) -> Option<u64> {
    // Some progress bars print a step as `9.000`.
    (0.0..=9_007_199_254_740_992.0)
        .contains(&value)
        .then_some(value as u64)
}

/// The bytes of the number at the start of `text`.
fn length(text: &[u8]) -> Option<usize> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let body = &text[sign..];
    let whole = grouped_digits(body);
    let fraction = match body.get(whole) {
        Some(b'.') => 1 + digits(&body[whole + 1..]),
        _ => 0,
    };
    // A point alone is not a number.
    if whole + fraction.saturating_sub(1) == 0 {
        return named(body).map(|length| sign + length);
    }
    let end = whole + fraction;
    Some(sign + end + exponent(&body[end..]))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Digits, with commas before groups of three.
fn grouped_digits(text: &[u8]) -> usize {
    let mut end = digits(text);
    // `1,2` is a list; only groups of three digits are one number.
    while end > 0 && text.get(end) == Some(&b',') && digits(&text[end + 1..]) == 3 {
        end += 4;
    }
    end
}

fn exponent(text: &[u8]) -> usize {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match digits(&text[1 + sign..]) {
        // An `e` without digits begins a unit or a word.
        0 => 0,
        digits => 1 + sign + digits,
    }
}

/// The bytes of `nan`, `inf` or `infinity`.
fn named(text: &[u8]) -> Option<usize> {
    let length = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let word = &text[..length];
    [b"nan".as_slice(), b"inf", b"infinity"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
        .then_some(length)
}

fn parse(token: &[u8]) -> Option<f64> {
    if token.len() > LONGEST {
        return None;
    }
    if let Some(value) = short_decimal(token) {
        return Some(value);
    }
    if !token.contains(&b',') {
        return std::str::from_utf8(token).ok()?.parse().ok();
    }
    let plain: Vec<u8> = token.iter().copied().filter(|byte| *byte != b',').collect();
    std::str::from_utf8(&plain).ok()?.parse().ok()
}

/// A number without an exponent, of up to 2^53 without its point, in half the time of the standard
/// library: almost all numbers of a log.
fn short_decimal(token: &[u8]) -> Option<f64> {
    // Digits and power of ten are exact in f64, so that their quotient is the nearest number
    // (Clinger's fast path).
    let (sign, text) = match token.first()? {
        b'-' => (-1.0, &token[1..]),
        b'+' => (1.0, &token[1..]),
        _ => (1.0, token),
    };
    // All digits may be after the point, and a longer fraction has no power in the table.
    if text.len() >= POWERS.len() {
        return None;
    }
    let (mut digits, mut point) = (0u64, None);
    for (position, byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(position + 1),
            _ => return None,
        }
    }
    let power = POWERS[point.map_or(0, |start| text.len() - start)];
    // f64 has every whole number up to here, so that the quotient is rounded once.
    (digits <= 1 << 53).then(|| sign * (digits as f64 / power))
}

/// Powers of ten that f64 has exactly.
const POWERS: [f64; 18] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17,
];

#[cfg(test)]
mod tests {
    use super::{at_end, at_start, short_decimal, whole_at_start};
    use testgen_fuzz::Random;

    #[test]
    fn short_decimals_are_those_of_the_standard_library() {
        let mut random = Random::new(11);
        for _ in 0..100_000 {
            let digits: String = (0..=random.below(17))
                .map(|_| char::from(b'0' + random.below(10) as u8))
                .collect();
            let point = random.below(digits.len() + 1);
            let text = format!(
                "{}{}.{}",
                ["", "-", "+"][random.below(3)],
                &digits[..point],
                &digits[point..]
            );
            if let Some(found) = short_decimal(text.as_bytes()) {
                let expected: f64 = text.parse().expect("a number");
                assert_eq!(found.to_bits(), expected.to_bits(), "`{text}`");
            } else {
                assert!(digits.len() > 15, "`{text}`");
            }
        }
        assert!(
            ["1e5", "nan", "1,234", "1.2.3", ""]
                .iter()
                .all(|text| short_decimal(text.as_bytes()).is_none())
        );
    }

    #[test]
    fn numbers_of_all_trainers_are_read() {
        let read = |text: &str| at_start(text.as_bytes());
        assert_eq!(read("  10.90, time"), Some((10.9, 7)));
        assert_eq!(read("1,234,567  tflops"), Some((1_234_567.0, 9)));
        assert_eq!(read("1.070000E+01 |"), Some((10.7, 12)));
        assert_eq!(read("['5e-05']").map(|found| found.0), Some(5e-5));
        assert_eq!(read("63.94GB/"), Some((63.94, 5)));
        assert_eq!(read("12,5"), Some((12.0, 2)), "not a group of three");
        assert_eq!(read("-inf,"), Some((f64::NEG_INFINITY, 4)));
        assert!(read("NaN ").is_some_and(|found| found.0.is_nan() && found.1 == 3));
        for text in ["", "n/a", "None", "nano", "-", ".", "e5", &"9".repeat(49)] {
            assert_eq!(read(text), None, "`{text}`");
        }
    }

    #[test]
    fn numbers_before_a_unit_are_read() {
        assert_eq!(at_end(b"| 123.40"), Some(123.4));
        assert_eq!(at_end(b"[00:10<01:30, 41.55"), Some(41.55));
        assert!(at_end(b"(nan").is_some_and(f64::is_nan));
        assert_eq!(at_end("9".repeat(48).as_bytes()), Some(1e48));
        for text in ["", "x12", ",123", "1,23", "1.2.3", &"9".repeat(49)] {
            assert_eq!(at_end(text.as_bytes()), None, "`{text}`");
        }
    }

    #[test]
    fn steps_are_whole() {
        assert_eq!(whole_at_start(b"   9.000, x"), Some((9, 8)));
        assert_eq!(whole_at_start(b"-1"), None);
        assert_eq!(whole_at_start(b"1e300"), None);
    }
}

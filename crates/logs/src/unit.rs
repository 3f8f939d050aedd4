//! The units that trainers print, converted to the units of [`Metric`](super::metric::Metric).

/// Bytes of a gibibyte.
pub(super) const GIB: f64 = (1u64 << 30) as f64;

/// The unit of a printed number.
///
/// It is the unit of the division in the trainer's source, which is not always the printed one:
/// DeepSpeed and Primus divide by 1024^3 and print `GB`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// The unit of the metric already.
    Own,
    /// Milliseconds, of a time in seconds.
    Milliseconds,
    /// Steps per second, of a time in seconds.
    StepsPerSecond,
    /// 10^6 bytes.
    Megabytes,
    /// 2^20 bytes.
    Mebibytes,
    /// 10^9 bytes.
    Gigabytes,
    /// 2^30 bytes.
    Gibibytes,
    /// Operations per second, of 10^12 of them.
    Flops,
    /// A prefix after the number is a power of 1000: `1.5K`, `112.9TFLOPS`. For floating-point
    /// operations.
    PrefixedFlops,
    /// As `PrefixedFlops`, for numbers and bytes: `1.5K`, `2M`, `3.1B`, which is 10^9 as in counts
    /// of parameters.
    Prefixed,
    /// As `Prefixed`, of milliseconds.
    PrefixedMilliseconds,
    /// Bytes of PyTorch's allocator with the unit after them, `12.5 GB`, `(GB)`, `MiB`: powers of
    /// 1024, because scripts divide by them. Without a unit it is bytes, as the function returns.
    PrintedBytes,
}

impl Unit {
    /// The value in the unit of the metric. `rest` is the text after the number.
    pub(super) fn convert(self, value: f64, rest: &[u8]) -> f64 {
        match self {
            Self::Own => value,
            Self::Milliseconds => value / 1e3,
            // A rate of 0 becomes infinite, which summaries count apart and curves leave out.
            Self::StepsPerSecond => 1.0 / value,
            Self::Megabytes => value * 1e6,
            Self::Mebibytes => value * (GIB / 1024.0),
            Self::Gigabytes => value * 1e9,
            Self::Gibibytes => value * GIB,
            Self::Flops => value / 1e12,
            Self::PrefixedFlops => value * prefix(rest) / 1e12,
            Self::Prefixed => value * prefix(rest),
            Self::PrefixedMilliseconds => value * prefix(rest) / 1e3,
            Self::PrintedBytes => value * binary(rest),
        }
    }
}

fn prefix(rest: &[u8]) -> f64 {
    match rest.first() {
        Some(b'K' | b'k') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G' | b'B') => 1e9,
        Some(b'T') => 1e12,
        Some(b'P') => 1e15,
        Some(b'E') => 1e18,
        _ => 1.0,
    }
}

fn binary(rest: &[u8]) -> f64 {
    let unit = rest.iter().find(|byte| !matches!(byte, b' ' | b'('));
    match unit {
        // Of the first letter alone: `GB` and `GiB` are both printed for a division by 1024^3.
        Some(b'K' | b'k') => 1024.0,
        Some(b'M') => GIB / 1024.0,
        Some(b'G') => GIB,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn gigabytes_are_not_gibibytes() {
        assert_eq!(Unit::Gigabytes.convert(2.0, b"GB"), 2e9);
        assert_eq!(Unit::Gibibytes.convert(2.0, b"GB"), 2_147_483_648.0);
        assert_eq!(Unit::Megabytes.convert(2.0, b""), 2e6);
        assert_eq!(Unit::Mebibytes.convert(2.0, b""), 2_097_152.0);
    }

    #[test]
    fn printed_bytes_are_powers_of_1024() {
        let bytes = |value, rest: &str| Unit::PrintedBytes.convert(value, rest.as_bytes());
        assert_eq!(bytes(2.0, "GB"), 2_147_483_648.0);
        assert_eq!(bytes(2.0, " (GB)"), 2_147_483_648.0);
        assert_eq!(bytes(2.0, " MiB free"), 2_097_152.0);
        assert_eq!(bytes(2048.0, ""), 2048.0);
        assert_eq!(bytes(2048.0, ", GB"), 2048.0);
    }

    #[test]
    fn prefixes_are_powers_of_1000() {
        assert_eq!(Unit::PrefixedFlops.convert(112.9, b"TFLOPS |"), 112.9);
        assert_eq!(Unit::PrefixedFlops.convert(1.5, b"PFLOPS |"), 1500.0);
        assert_eq!(Unit::Prefixed.convert(1.5, b"K | x"), 1500.0);
        assert_eq!(Unit::Prefixed.convert(42.5, b"B | x"), 42.5e9);
        assert_eq!(Unit::PrefixedMilliseconds.convert(2.5, b"K"), 2.5);
        assert_eq!(Unit::Prefixed.convert(7.0, b""), 7.0);
    }
}

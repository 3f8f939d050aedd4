use super::super::cases::{FloatFormat, INNER, power};
use super::{matrix_unit, product};
use testgen_types::{ExtraBits, MatrixUnit, Precision, SumRounding};

const SIDE: usize = 16;

/// The arithmetic of a matrix unit in software. Sums are exact in f64 where no step of the unit
/// rounds.
#[derive(Clone, Copy)]
struct Unit {
    terms: usize,
    extra_bits: i32,
    round: fn(f64) -> f64,
    /// Whether the terms are summed before the accumulator is added.
    separate: bool,
    /// Whether the terms of a block are added in pairs in f32, instead of aligned and added
    /// exactly.
    pairwise: bool,
    flush: bool,
}

fn nearest(value: f64) -> f64 {
    f64::from(value as f32)
}

fn truncate(value: f64) -> f64 {
    cut(value, exponent(value) - 23)
}

fn down(value: f64) -> f64 {
    let below = truncate(value);
    if below > value {
        below - power(exponent(value) - 23)
    } else {
        below
    }
}

fn exponent(value: f64) -> i32 {
    if value == 0.0 {
        -1022
    } else {
        ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
    }
}

/// `value` without the bits below 2^`lowest`. Small values of f32's range need no cut.
fn cut(value: f64, lowest: i32) -> f64 {
    if lowest < -300 {
        value
    } else {
        (value / power(lowest)).trunc() * power(lowest)
    }
}

impl Unit {
    fn aligned_sum(&self, terms: &[f64]) -> f64 {
        let largest = terms.iter().map(|term| exponent(*term)).max().unwrap_or(0);
        terms
            .iter()
            .map(|term| cut(*term, largest - 23 - self.extra_bits))
            .sum()
    }

    fn block(&self, accumulator: f64, terms: &[f64]) -> f64 {
        if self.pairwise {
            let sum = terms.chunks(2).fold(0.0, |sum, pair| {
                (self.round)(sum + (self.round)(pair.iter().sum()))
            });
            return (self.round)(accumulator + sum);
        }
        if self.terms == 1 {
            return (self.round)(accumulator + terms[0]);
        }
        if self.separate {
            return (self.round)(accumulator + self.aligned_sum(terms));
        }
        (self.round)(self.aligned_sum(&[&[accumulator], terms].concat()))
    }

    fn fingerprint(&self, precision: Precision) -> MatrixUnit {
        let format = FloatFormat::for_precision(precision);
        let product = product(format, SIDE);
        let flush = |value: f64| {
            if self.flush && value.abs() < format.smallest_normal {
                0.0
            } else {
                value
            }
        };
        let answers: Vec<f64> = (0..SIDE * SIDE)
            .map(|index| {
                let (row, column) = (index / SIDE, index % SIDE);
                let terms: Vec<f64> = (0..INNER)
                    .map(|inner| {
                        flush(product.left[row * INNER + inner])
                            * flush(product.right[inner * SIDE + column])
                    })
                    .collect();
                flush(
                    terms
                        .chunks(self.terms)
                        .fold(0.0, |sum, terms| self.block(sum, terms)),
                )
            })
            .collect();
        matrix_unit(precision, &answers, SIDE).expect("the size of the product")
    }
}

const SEQUENCE: Unit = Unit {
    terms: 1,
    extra_bits: 0,
    round: nearest,
    separate: false,
    pairwise: false,
    flush: false,
};

fn nvidia(terms: usize, extra_bits: i32) -> Unit {
    Unit {
        terms,
        extra_bits,
        round: truncate,
        ..SEQUENCE
    }
}

fn both(unit: Unit) -> MatrixUnit {
    let [half, brain] =
        [Precision::F16, Precision::Bf16].map(|precision| unit.fingerprint(precision));
    assert_eq!(half, brain);
    half
}

#[test]
fn every_generation_is_recognized() {
    let cdna1 = Unit {
        terms: 4,
        pairwise: true,
        ..SEQUENCE
    };
    let units = [
        (nvidia(4, 0), "NVIDIA Volta"),
        (nvidia(8, 1), "NVIDIA Ampere and Ada"),
        (nvidia(16, 2), "NVIDIA Hopper and Blackwell"),
        (cdna1, "AMD CDNA 1"),
        (
            Unit {
                flush: true,
                ..cdna1
            },
            "AMD CDNA 2",
        ),
        (
            Unit {
                terms: 8,
                extra_bits: 1,
                separate: true,
                ..SEQUENCE
            },
            "AMD CDNA 3",
        ),
        (SEQUENCE, "f32 operations in sequence, no matrix unit"),
    ];
    for (unit, name) in units {
        let fingerprint = both(unit);
        assert_eq!(fingerprint.like, [name], "{fingerprint}");
    }
}

#[test]
fn generations_are_recognized_in_tf32_by_half_as_many_terms() {
    let like = |unit: Unit| unit.fingerprint(Precision::Tf32).like;
    assert_eq!(like(nvidia(4, 1)), ["NVIDIA Ampere and Ada"]);
    assert_eq!(like(nvidia(8, 2)), ["NVIDIA Hopper and Blackwell"]);
    assert_eq!(
        like(SEQUENCE),
        ["f32 operations in sequence, no matrix unit"]
    );
    // Volta's unit does not compute TF32, so that its features name no generation.
    assert!(like(nvidia(4, 0)).is_empty());
}

#[test]
fn the_number_of_terms_and_extra_bits_are_recovered() {
    let names = [
        ExtraBits::None,
        ExtraBits::One,
        ExtraBits::Two,
        ExtraBits::ThreeOrMore,
        ExtraBits::ThreeOrMore,
    ];
    for terms in [4, 8, 16, 32] {
        for (bits, name) in (0..).zip(names) {
            let fingerprint = both(nvidia(terms, bits));
            assert_eq!(
                (fingerprint.terms, fingerprint.extra_bits),
                (Some(terms), Some(name))
            );
        }
    }
}

#[test]
fn the_rounding_of_sums_is_recovered() {
    let rounded = |round: fn(f64) -> f64| {
        both(Unit {
            round,
            ..nvidia(16, 3)
        })
        .rounding
    };
    assert_eq!(rounded(truncate), Some(SumRounding::TowardZero));
    assert_eq!(rounded(nearest), Some(SumRounding::NearestEven));
    assert_eq!(rounded(down), Some(SumRounding::Down));
}

#[test]
fn flushed_subnormals_and_a_separate_accumulator_are_recovered() {
    let kept = both(nvidia(8, 1));
    assert_eq!(
        (kept.subnormal_inputs, kept.subnormal_outputs),
        (Some(true), Some(true))
    );
    assert_eq!(kept.accumulator_separate, Some(false));
    let flushed = both(Unit {
        flush: true,
        separate: true,
        ..nvidia(8, 1)
    });
    assert_eq!(
        (flushed.subnormal_inputs, flushed.subnormal_outputs),
        (Some(false), Some(false))
    );
    assert_eq!(
        (flushed.accumulator_separate, flushed.like.len()),
        (Some(true), 0)
    );
}

#[test]
fn answers_that_nothing_explains_are_unknown() {
    let nan = matrix_unit(Precision::F16, &[f64::NAN; SIDE * SIDE], SIDE)
        .expect("the size of the product");
    assert_eq!(
        (
            nan.terms,
            nan.rounding,
            nan.subnormal_inputs,
            nan.like.len()
        ),
        (None, None, None, 0)
    );
    assert!(
        nan.to_string().ends_with("like no published generation"),
        "{nan}"
    );
    assert_eq!(matrix_unit(Precision::F16, &[0.0; SIDE], SIDE), None);
}

#[test]
fn operands_are_exact_in_their_type() {
    for precision in [Precision::F16, Precision::Bf16, Precision::Tf32] {
        let product = product(FloatFormat::for_precision(precision), SIDE);
        for value in product.left.into_iter().chain(product.right) {
            let stored = match precision {
                Precision::F16 => half::f16::from_f64(value).to_f64(),
                Precision::Tf32 => f64::from(f32::from_bits((value as f32).to_bits() & !0x1fff)),
                _ => half::bf16::from_f64(value).to_f64(),
            };
            assert_eq!(stored, value, "{precision}");
        }
    }
}

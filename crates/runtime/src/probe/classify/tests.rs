//! The report of a probe, for a correct device and devices with one fault.

mod rust_device;

use super::{
    Accumulator, Denormals, HalfSupport, PrecisionProbe, Rounding, classify, classify_tf32,
};
use crate::probe::measure::Tf32Measurement;
use half::bf16;
use rust_device::{
    SIDE, correct, device, exact_f32, flushing, nearest_even, saturating, tf32, toward_zero,
};
use testgen_types::Precision;

const HALVES: [Precision; 2] = [Precision::F16, Precision::Bf16];

/// The description of the faults.
fn wrong(probe: &PrecisionProbe) -> &str {
    match &probe.support {
        HalfSupport::Wrong { what } => what,
        other => panic!("{} is {other}", probe.precision),
    }
}

#[test]
fn ieee_arithmetic_is_correct() {
    for precision in HALVES {
        let probe = classify(precision, &correct(precision));
        assert_eq!(probe.support, HalfSupport::Correct, "{probe}");
        assert_eq!(
            (probe.accumulator, probe.denormals),
            (Some(Accumulator::F32), Some(Denormals::Kept))
        );
        assert_eq!(
            (probe.rounding, probe.cast_rounding),
            (Some(Rounding::NearestEven), Some(Rounding::NearestEven))
        );
        assert!(
            probe.product_error <= probe.product_tolerance && probe.product_error > Some(0.0),
            "{probe}"
        );
    }
}

#[test]
fn a_sixteen_bit_accumulator_is_a_fact() {
    for precision in HALVES {
        let probe = classify(precision, &device(precision, nearest_even, nearest_even));
        assert_eq!(
            (&probe.support, probe.accumulator),
            (&HalfSupport::Correct, Some(Accumulator::SixteenBits)),
            "{probe}"
        );
    }
}

#[test]
fn flushed_denormals_are_a_fact() {
    for precision in HALVES {
        let probe = classify(precision, &device(precision, flushing, exact_f32));
        assert_eq!(
            (&probe.support, probe.denormals),
            (&HalfSupport::Correct, Some(Denormals::Flushed)),
            "{probe}"
        );
        let mut mixed = correct(precision);
        mixed.products.as_mut().expect("answers")[2] = 0.0;
        assert_eq!(
            classify(precision, &mixed).denormals,
            Some(Denormals::Mixed)
        );
        mixed.products.as_mut().expect("answers")[2] = 1.0;
        assert!(
            wrong(&classify(precision, &mixed)).contains("denormals are neither kept nor zero")
        );
    }
}

#[test]
fn truncation_is_wrong() {
    for precision in HALVES {
        let probe = classify(precision, &device(precision, toward_zero, exact_f32));
        assert_eq!(
            (probe.rounding, probe.cast_rounding),
            (Some(Rounding::TowardZero), Some(Rounding::TowardZero))
        );
        assert!(
            wrong(&probe).contains("sums round toward zero, expected to nearest even"),
            "{probe}"
        );
        let mut casts = correct(precision);
        casts.casts = device(precision, toward_zero, exact_f32).casts;
        assert_eq!(
            wrong(&classify(precision, &casts)),
            "casts from f32 round toward zero, expected to nearest even"
        );
    }
}

#[test]
fn saturating_instead_of_overflowing_is_wrong() {
    let probe = classify(
        Precision::F16,
        &device(Precision::F16, saturating, exact_f32),
    );
    assert!(
        wrong(&probe).contains("65504 * 2 is 65504, expected inf, -65504 * 2 is -65504"),
        "{probe}"
    );
    let probe = classify(
        Precision::Bf16,
        &device(Precision::Bf16, saturating, exact_f32),
    );
    assert!(wrong(&probe).contains("expected inf"), "{probe}");
}

#[test]
fn bf16_computed_in_f16_is_wrong() {
    let probe = classify(
        Precision::Bf16,
        &device(
            Precision::Bf16,
            |_, value| nearest_even(Precision::F16, value),
            exact_f32,
        ),
    );
    assert!(
        wrong(&probe).contains("32768 * 2 is inf, expected 65536"),
        "{probe}"
    );
}

#[test]
fn one_wrong_element_of_a_product_is_wrong() {
    for precision in HALVES {
        for corrupt in [
            |value: f64| value + 0.5,
            |_: f64| f64::NAN,
            |_: f64| f64::INFINITY,
        ] {
            let mut measured = correct(precision);
            let random = measured.random.as_mut().expect("answers");
            random[5] = corrupt(random[5]);
            let probe = classify(precision, &measured);
            assert!(
                wrong(&probe).starts_with("a matrix product of inner length 512 is off by"),
                "{probe}"
            );
        }
    }
}

#[test]
fn zeros_and_missing_elements_are_wrong() {
    for precision in HALVES {
        let mut zeros = device(precision, |_, _| 0.0, exact_f32);
        assert!(wrong(&classify(precision, &zeros)).contains("3 + 5 is 0, expected 8"));
        zeros = correct(precision);
        zeros.random = Ok(vec![0.0; SIDE * SIDE]);
        zeros.cancelling = Ok(vec![0.0; SIDE * SIDE]);
        assert!(
            wrong(&classify(precision, &zeros)).contains("rel-L2 1.000e0"),
            "a 16-bit accumulator does not excuse zeros"
        );
        let mut short = correct(precision);
        short.sums.as_mut().expect("answers").pop();
        assert!(wrong(&classify(precision, &short)).contains("0 + 4 is NaN"));
        short = correct(precision);
        short.cancelling.as_mut().expect("answers").clear();
        assert!(
            wrong(&classify(precision, &short)).contains("neither those of f32 nor of 16 bits")
        );
    }
}

#[test]
fn stored_values_must_not_change() {
    let mut measured = correct(Precision::F16);
    measured.stored.as_mut().expect("answers")[1] = 1.0;
    assert_eq!(
        wrong(&classify(Precision::F16, &measured)),
        "values change when they are stored"
    );
}

#[test]
fn a_matrix_product_that_fails_is_a_fault() {
    let mut measured = correct(Precision::F16);
    measured.random =
        Err("an error during execution\nCaused by:\n  too much shared memory".to_owned());
    let probe = classify(Precision::F16, &measured);
    let what = "matrix products fail: an error during execution Caused by: too much shared memory";
    assert_eq!(
        probe.support,
        HalfSupport::Wrong {
            what: what.to_owned()
        }
    );
    assert_eq!(probe.product_error, None);
}

#[test]
fn a_type_that_the_backend_claims_must_work() {
    let mut measured = correct(Precision::F16);
    measured.claimed = true;
    measured.casts = Err("out of memory".to_owned());
    assert_eq!(
        wrong(&classify(Precision::F16, &measured)),
        "casts from f32 fail: out of memory"
    );
    measured.stored = Err("the device is lost".to_owned());
    assert_eq!(
        wrong(&classify(Precision::F16, &measured)),
        "transfers fail: the device is lost"
    );
}

#[test]
fn no_answer_is_storage_only_or_unsupported() {
    let mut measured = correct(Precision::Bf16);
    measured.sums = Err("\nno bf16 units\nbacktrace".to_owned());
    measured.random = Err("no bf16 units".to_owned());
    let probe = classify(Precision::Bf16, &measured);
    assert_eq!(
        probe.support,
        HalfSupport::StorageOnly {
            why: "sums: no bf16 units".to_owned()
        }
    );
    assert_eq!(probe.product_error, None);
    measured.stored = Err("no bf16".to_owned());
    assert_eq!(
        classify(Precision::Bf16, &measured).support,
        HalfSupport::Unsupported {
            why: "no bf16".to_owned()
        }
    );
}

#[test]
fn tf32_is_correct_with_sums_in_f32() {
    let probe = classify_tf32(&tf32());
    assert_eq!(
        (probe.support, probe.accumulator),
        (HalfSupport::Correct, Some(Accumulator::F32))
    );
}

#[test]
fn tf32_must_lose_bits_and_f32_must_not() {
    let probe = classify_tf32(&Tf32Measurement {
        tf32_loses: Ok(false),
        ..tf32()
    });
    assert!(
        wrong(&probe).contains("matrix units did not compute them"),
        "{probe}"
    );
    let probe = classify_tf32(&Tf32Measurement {
        f32_loses: Ok(true),
        ..tf32()
    });
    assert!(wrong(&probe).contains("f32 is not f32"), "{probe}");
    let probe = classify_tf32(&Tf32Measurement {
        f32_loses: Err("the device is lost".to_owned()),
        ..tf32()
    });
    assert_eq!(wrong(&probe), "matrix products fail: the device is lost");
}

#[test]
fn f32_loses_bits_in_a_column_that_requests_tf32() {
    let requested = |f32_loses| Tf32Measurement {
        f32_loses: Ok(f32_loses),
        f32_is_tf32: true,
        ..tf32()
    };
    assert_eq!(
        classify_tf32(&requested(true)).support,
        HalfSupport::Correct
    );
    assert!(wrong(&classify_tf32(&requested(false))).contains("although the column requests TF32"));
}

#[test]
fn missing_elements_of_tf32_are_wrong() {
    for product in 0..2 {
        let mut short = tf32();
        short.products[product]
            .as_mut()
            .expect("it has answers")
            .clear();
        assert!(wrong(&classify_tf32(&short)).contains("matrix product"));
    }
}

#[test]
fn tf32_with_the_error_of_bf16_is_wrong() {
    let mut measured = tf32();
    let random = measured.products[1].as_mut().expect("it has answers");
    random
        .iter_mut()
        .for_each(|value| *value = bf16::from_f64(*value).to_f64());
    assert!(wrong(&classify_tf32(&measured)).contains("inner length 512 is off"));
}

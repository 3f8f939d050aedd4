//! The order of the steps, their limits, and what is measured of a step.

use super::{super::tests::OnHost, *};
use testgen_types::Architecture;

fn step(precision: Precision, rel_l2: f64, noise: f64) -> PrecisionStep {
    PrecisionStep {
        precision,
        rel_l2,
        noise: Some(noise),
        recorded: 0.0,
        elements: FEW,
        tf32: false,
    }
}

#[test]
fn the_order_is_strict() {
    let ladder = |f32, f16, bf16| {
        [
            step(Precision::F32, f32, 1.0),
            step(Precision::F16, f16, 1.0),
            step(Precision::Bf16, bf16, 1.0),
        ]
    };
    assert!(evaluate("y", &ladder(1e-7, 1e-3, 1e-2)).is_empty());
    assert!(evaluate("y", &ladder(1e-7, 1e-2, 1e-3))[0].contains("f16"));
    assert!(evaluate("y", &ladder(1e-3, 1e-3, 1e-2))[0].contains("f32"));
    assert!(evaluate("y", &ladder(0.0, 0.0, 0.0)).is_empty());
    assert_eq!(
        evaluate("y", &ladder(1e-3, 0.0, 1e-2)).len(),
        1,
        "the coarser one alone is exact"
    );
    assert_eq!(evaluate("y", &ladder(f64::NAN, 1e-3, 1e-2)).len(), 2);
}

#[test]
fn twice_the_noise_of_the_reference_is_allowed_and_three_times_in_16_bits() {
    let ladder = |f32, f16, bf16| {
        [
            step(Precision::F32, f32, 1e-7),
            step(Precision::F16, f16, 1e-3),
            step(Precision::Bf16, bf16, 1e-2),
        ]
    };
    assert!(evaluate("y", &ladder(2e-7, 3e-3, 3e-2)).is_empty());
    assert!(
        evaluate("y", &ladder(2.1e-7, 1e-3, 1e-2))[0]
            .contains("in f32 is 2.100e-7, more than 2 times")
    );
    assert!(
        evaluate("y", &ladder(1e-7, 3.1e-3, 1e-2))[0]
            .contains("in f16 is 3.100e-3, more than 3 times")
    );
    assert!(
        evaluate("y", &ladder(1e-7, 1e-3, 3.1e-2))[0]
            .contains("in bf16 is 3.100e-2, more than 3 times")
    );
    assert!(
        evaluate(
            "y",
            &ladder(2.1e-7, 3.1e-3, 3.1e-2).map(|step| PrecisionStep {
                elements: FEW - 1,
                ..step
            })
        )
        .is_empty()
    );
}

#[test]
fn a_reference_without_an_error_allows_the_tolerance() {
    assert!(
        evaluate(
            "y",
            &[
                step(Precision::F32, 1e-7, 0.0),
                step(Precision::F16, 1e-3, 0.0)
            ]
        )
        .is_empty()
    );
}

#[test]
fn the_error_of_recorded_outputs_is_added() {
    let ladder = |f32| {
        let fine = PrecisionStep {
            recorded: 1.5e-7,
            ..step(Precision::F32, f32, 1.5e-7)
        };
        [
            fine,
            PrecisionStep {
                recorded: 1.5e-7,
                ..step(Precision::F16, 1e-3, 1e-3)
            },
        ]
    };
    assert!(evaluate("y", &ladder(4.4e-7)).is_empty());
    assert!(evaluate("y", &ladder(4.6e-7))[0].contains("recorded f32 outputs"));
}

#[test]
fn tf32_has_the_factor_of_f32() {
    let ladder = |tf32| {
        let tf32 = PrecisionStep {
            tf32: true,
            ..step(Precision::Tf32, tf32, 1e-3)
        };
        [step(Precision::F32, 1e-7, 1e-7), tf32]
    };
    assert!(evaluate("y", &ladder(2e-3)).is_empty());
    assert!(evaluate("y", &ladder(2.1e-3))[0].contains("in tf32 is 2.100e-3, more than 2 times"));
}

#[test]
fn tf32_need_not_be_finer_than_f16() {
    let tf32 = PrecisionStep {
        precision: Precision::F32,
        rel_l2: 2e-3,
        noise: None,
        recorded: 0.0,
        elements: FEW,
        tf32: true,
    };
    let f16 = step(Precision::F16, 1e-3, 1e-3);
    assert!(evaluate("y", &[tf32.clone(), f16]).is_empty());
    assert_eq!(
        evaluate("y", &[tf32, step(Precision::Bf16, 1e-3, 1e-3)]).len(),
        1
    );
}

#[test]
fn f32_that_is_tf32_has_no_order_with_it() {
    let tf32 = |precision, rel_l2| PrecisionStep {
        tf32: true,
        ..step(precision, rel_l2, 1.0)
    };
    let ladder = |bf16| {
        [
            tf32(Precision::F32, 1e-3),
            tf32(Precision::Tf32, 1e-3),
            step(Precision::Bf16, bf16, 1.0),
        ]
    };
    assert!(evaluate("y", &ladder(1e-2)).is_empty());
    assert_eq!(evaluate("y", &ladder(1e-4)).len(), 2);
}

#[test]
fn an_output_without_products_in_tf32_is_the_same_in_f32() {
    let ladder = |f32, tf32| {
        let tf32 = PrecisionStep {
            tf32: true,
            ..step(Precision::Tf32, tf32, 1e-3)
        };
        [step(Precision::F32, f32, 1e-7), tf32]
    };
    assert!(evaluate("y", &ladder(1.1e-7, 1.1e-7)).is_empty());
    assert!(evaluate("y", &ladder(1.2e-7, 1.1e-7))[0].contains("not below"));
    let f32_in_tf32 = evaluate("y", &ladder(1e-3, 1e-3));
    assert!(f32_in_tf32[0].contains("in f32"), "{f32_in_tf32:?}");
}

#[test]
fn tf32_is_between_f32_and_bf16() {
    let ladder = |f32, tf32, f16, bf16| {
        let tf32 = PrecisionStep {
            tf32: true,
            ..step(Precision::Tf32, tf32, 1.0)
        };
        [
            step(Precision::F32, f32, 1.0),
            tf32,
            step(Precision::F16, f16, 1.0),
            step(Precision::Bf16, bf16, 1.0),
        ]
    };
    assert!(evaluate("y", &ladder(1e-7, 2e-3, 1e-3, 1e-2)).is_empty());
    assert!(
        evaluate("y", &ladder(1e-7, 1e-8, 1e-3, 1e-2))[0].contains("not below 1.000e-8 in tf32")
    );
    assert!(evaluate("y", &ladder(1e-7, 2e-2, 1e-3, 1e-2))[0].contains("the error in tf32"));
    assert!(
        evaluate("y", &ladder(2e-3, 3e-3, 1e-3, 1e-2))[0].contains("not below 1.000e-3 in f16")
    );
}

#[test]
fn f32_is_tf32_only_on_a_device_that_declares_it() {
    let host = OnHost::for_architecture(Architecture::EncoderOnly);
    let steps = |host: OnHost, precision: Precision| {
        host.run(|run| {
            let (golden, tested) = (run.golden()?, run.subject_under_test_in(precision)?);
            let (mut ladders, mut failures) = (Ladders::new(), Failures::default());
            measure_step(run, &tested, &golden, &mut ladders, &mut failures)?;
            Ok::<_, Abort>(
                ladders["last_hidden_state"]
                    .iter()
                    .map(|step| step.tf32)
                    .collect::<Vec<_>>(),
            )
        })
    };
    assert_eq!(steps(host, Precision::F32), Ok(vec![false]));
    assert_eq!(steps(host.with_tf32(), Precision::F32), Ok(vec![true]));
    assert_eq!(steps(host.with_tf32(), Precision::F16), Ok(vec![false]));
}

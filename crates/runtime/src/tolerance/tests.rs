//! Thresholds computed by hand.

use super::*;
use std::collections::HashMap;

fn noise(f32: &str, f16: &str, bf16: &str) -> Noise {
    let metadata = [("noise.f32", f32), ("noise.f16", f16), ("noise.bf16", bf16)];
    let metadata: HashMap<String, String> = metadata
        .into_iter()
        .filter(|(_, pair)| !pair.is_empty())
        .map(|(key, pair)| (key.to_owned(), format!("{{\"logits\": {pair}}}")))
        .collect();
    Noise::for_tests(&metadata)
}

fn threshold(noise: &Noise, precision: Precision, tf32: bool) -> [f64; 2] {
    let Threshold { rel_l2, max_rel } =
        Tolerance::new(noise, &[], precision, tf32).golden("logits");
    [rel_l2, max_rel]
}

fn close(found: [f64; 2], expected: [f64; 2]) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b;
    assert!(
        near(found[0], expected[0]) && near(found[1], expected[1]),
        "{found:?} is not {expected:?}"
    );
}

#[test]
fn four_times_the_noise_between_floor_and_ceiling() {
    let recorded = noise("[2e-6, 3e-6]", "[1e-3, 4e-3]", "[1e-2, 3e-2]");
    close(threshold(&recorded, Precision::F32, false), [8e-6, 1.2e-5]);
    close(threshold(&recorded, Precision::F32, true), [4e-3, 1.6e-2]);
    close(threshold(&recorded, Precision::Tf32, false), [4e-3, 1.6e-2]);
    close(threshold(&recorded, Precision::F16, false), [4e-3, 1.6e-2]);
    close(threshold(&recorded, Precision::F16, true), [4e-3, 1.6e-2]);
    close(threshold(&recorded, Precision::Bf16, false), [4e-2, 1.2e-1]);
}

#[test]
fn tf32_has_the_mantissa_of_f16_and_the_range_of_bf16() {
    let overflowing = noise("", "[0.4, 2e-3]", "[8e-3, 1e-2]");
    close(
        threshold(&overflowing, Precision::Tf32, false),
        [3.2e-2, 8e-3],
    );
    close(threshold(&overflowing, Precision::F16, false), [5e-2, 8e-3]);
    // bf16 alone says too little of TF32: the fixed threshold is narrower.
    let without_f16 = noise("", "", "[8e-3, 1e-2]");
    close(
        threshold(&without_f16, Precision::Tf32, false),
        [5e-3, 1e-2],
    );
}

#[test]
fn repeated_calls_may_differ_by_the_noise_alone() {
    let recorded = noise("[2e-6, 5e-7]", "[2e-3, 1e-4]", "");
    let found = |precision| {
        let Threshold { rel_l2, max_rel } =
            Tolerance::new(&recorded, &[], precision, false).repeated("logits");
        [rel_l2, max_rel]
    };
    close(found(Precision::F32), [2e-6, 2e-6]);
    close(found(Precision::Tf32), [2e-3, 2e-3]);
}

#[test]
fn the_floor_holds_a_model_with_hardly_any_noise() {
    let recorded = noise("[0.0, 1e-7]", "[1e-5, 1e-5]", "[1e-4, 1e-4]");
    close(threshold(&recorded, Precision::F32, false), [3e-6, 6e-6]);
    close(threshold(&recorded, Precision::F32, true), [1e-3, 2e-3]);
    close(threshold(&recorded, Precision::F16, false), [1e-3, 2e-3]);
    close(threshold(&recorded, Precision::Bf16, false), [8e-3, 1.6e-2]);
}

#[test]
fn the_ceiling_holds_a_model_with_too_much_noise() {
    let recorded = noise("[1e-3, 1e-3]", "[1.0, 1.0]", "[1.0, 1.0]");
    close(threshold(&recorded, Precision::F32, false), [3e-5, 6e-5]);
    close(threshold(&recorded, Precision::F32, true), [5e-2, 1e-1]);
    close(threshold(&recorded, Precision::F16, false), [5e-2, 1e-1]);
    close(threshold(&recorded, Precision::Bf16, false), [2e-1, 4e-1]);
}

#[test]
fn without_noise_the_last_column_holds() {
    let recorded = noise("", "", "");
    close(threshold(&recorded, Precision::F32, false), [1e-5, 3e-5]);
    close(threshold(&recorded, Precision::F32, true), [5e-3, 1e-2]);
    close(threshold(&recorded, Precision::F16, false), [1e-2, 2e-2]);
    close(threshold(&recorded, Precision::Bf16, false), [5e-2, 1e-1]);
}

#[test]
fn each_measure_is_clamped_for_itself() {
    close(
        threshold(&noise("[1e-9, 5e-6]", "", ""), Precision::F32, false),
        [3e-6, 2e-5],
    );
}

#[test]
fn metamorphic_checks_have_lower_floors() {
    let recorded = noise("[1e-7, 1e-7]", "[1e-5, 1e-5]", "[1e-5, 1e-5]");
    let found = |precision| {
        let Threshold { rel_l2, max_rel } =
            Tolerance::new(&recorded, &[], precision, false).metamorphic("logits");
        [rel_l2, max_rel]
    };
    close(found(Precision::F32), [1e-6, 2e-6]);
    close(found(Precision::F16), [1e-3, 2e-3]);
    close(found(Precision::Bf16), [1e-3, 2e-3]);
}

#[test]
fn an_override_is_for_its_output_and_its_precision() {
    let recorded = noise("[2e-6, 2e-6]", "[1e-3, 1e-3]", "");
    let overrides = [ToleranceOverride {
        output: "logits",
        precision: Precision::F32,
        rel_l2: 1e-4,
        max_rel: 2e-4,
        reason: "test",
    }];
    let found = |precision, tf32, name: &str| {
        let Threshold { rel_l2, max_rel } =
            Tolerance::new(&recorded, &overrides, precision, tf32).golden(name);
        [rel_l2, max_rel]
    };
    close(found(Precision::F32, false, "logits"), [1e-4, 2e-4]);
    close(found(Precision::F32, false, "pooler_output"), [1e-5, 3e-5]);
    close(found(Precision::F16, false, "logits"), [4e-3, 4e-3]);
    close(found(Precision::F32, true, "logits"), [4e-3, 4e-3]);
    close(found(Precision::Tf32, false, "logits"), [4e-3, 4e-3]);
    let overrides = overrides.map(|known| ToleranceOverride {
        precision: Precision::Tf32,
        ..known
    });
    let tolerance = Tolerance::new(&recorded, &overrides, Precision::Tf32, false);
    assert_eq!(
        tolerance.golden("logits"),
        Threshold {
            rel_l2: 1e-4,
            max_rel: 2e-4
        }
    );
}

#[test]
fn few_elements_are_measured_in_units_of_the_recorded_tensor() {
    let threshold = Threshold {
        rel_l2: 1e-6,
        max_rel: 2e-6,
    };
    let pair = |threshold: Threshold| [threshold.rel_l2, threshold.max_rel];
    // The largest recorded number is 4, so 4 * 2e-6 is allowed: of one number 0.5, and of two whose L2 norm is 5.
    close(pair(threshold.in_units_of(4.0, &[0.5])), [1.6e-5, 1.6e-5]);
    close(
        pair(threshold.in_units_of(4.0, &[3.0, 4.0])),
        [8e-6 * 2.0_f64.sqrt() / 5.0, 2e-6],
    );
    close(pair(threshold.in_units_of(4.0, &[8.0])), [2e-6, 2e-6]);
    close(pair(threshold.in_units_of(4.0, &[0.0])), [1e-6, 2e-6]);
    close(pair(threshold.in_units_of(4.0, &[0.5; 64])), [1e-6, 2e-6]);
}

#[test]
fn an_error_is_left_open_up_to_the_usual_factor_where_the_reference_is_above_the_ceiling() {
    let error = |rel_l2, max_rel| OutputError {
        rel_l2,
        max_rel,
        rel_l2_threshold: 0.2,
        max_rel_threshold: 0.4,
        ..OutputError::with_headroom("case.1.logits".to_owned(), 0.5)
    };
    let open = |noise: &Noise, rel_l2, max_rel| {
        Tolerance::new(noise, &[], Precision::Bf16, false)
            .leaves_open("logits", &error(rel_l2, max_rel))
    };
    let unstable = noise("", "", "[0.1, 0.5]");
    assert!(open(&unstable, 0.3, 0.9));
    assert!(!open(&unstable, 0.41, 0.9) && !open(&unstable, 0.3, 2.1));
    assert!(!open(&noise("", "", "[0.1, 0.39]"), 0.3, 0.9));
    assert!(!open(&noise("", "[0.1, 0.5]", ""), 0.3, 0.9));
}

#[test]
fn the_threshold_of_probabilities_ends_at_the_ceiling() {
    let recorded = noise("[2e-6, 2e-6]", "[1e-3, 1e-3]", "[1e-2, 1e-2]");
    let probabilities = |precision, largest| {
        let tolerance = Tolerance::new(&recorded, &[], precision, false);
        let DerivedThreshold { capped, uncapped } = tolerance.probabilities("logits", largest);
        [capped, uncapped].map(|threshold| [threshold.rel_l2, threshold.max_rel])
    };
    let [capped, uncapped] = probabilities(Precision::F16, 4.0);
    close(capped, [3.2e-2, 3.2e-2]);
    close(uncapped, [3.2e-2, 3.2e-2]);
    // Scores below one have the unit one.
    close(probabilities(Precision::F16, 0.25)[0], [8e-3, 8e-3]);
    let [capped, uncapped] = probabilities(Precision::Bf16, 8.0);
    close(capped, [2e-1, 4e-1]);
    close(uncapped, [6.4e-1, 6.4e-1]);
    let tolerance = Tolerance::new(&recorded, &[], Precision::Bf16, false);
    let DerivedThreshold { capped, uncapped } = tolerance.probabilities("scores", 8.0);
    assert_eq!(capped, uncapped, "without recorded noise");
    let overrides = [ToleranceOverride {
        output: "logits",
        precision: Precision::Bf16,
        rel_l2: 0.5,
        max_rel: 0.5,
        reason: "test",
    }];
    let tolerance = Tolerance::new(&recorded, &overrides, Precision::Bf16, false);
    let DerivedThreshold { capped, uncapped } = tolerance.probabilities("logits", 8.0);
    assert_eq!(capped, uncapped, "the spec decides");
}

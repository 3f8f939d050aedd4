use super::{
    Accumulator, HalfProbe, HalfSupport, PrecisionError, PrecisionProbe, probe_half_precision,
};
use crate::{machine::host_processor, open::open};
use testgen_types::Precision::{self, Bf16, F16, F32, Tf32};

fn result(precision: Precision, support: HalfSupport) -> PrecisionProbe {
    PrecisionProbe {
        accumulator: Some(Accumulator::F32),
        ..PrecisionProbe::without_facts(precision, support)
    }
}

fn probe(f16: HalfSupport, bf16: HalfSupport) -> HalfProbe {
    HalfProbe {
        f16: result(F16, f16),
        bf16: result(Bf16, bf16),
        gpu: None,
    }
}

fn wrong() -> HalfSupport {
    HalfSupport::Wrong {
        what: "3 + 5 is 0, expected 8".to_owned(),
    }
}

#[test]
fn without_a_request_a_correct_half_precision_is_preferred_to_f32() {
    let both = probe(HalfSupport::Correct, HalfSupport::Correct);
    assert_eq!(both.choose(None, &[F32, F16, Bf16]), Ok(F16));
    assert_eq!(both.choose(None, &[F32, Tf32, Bf16, F16]), Ok(Bf16));
    assert_eq!(both.choose(None, &[F32, Tf32]), Ok(F32));
    assert_eq!(both.choose(None, &[Tf32]), Ok(Tf32));
    assert_eq!(
        probe(wrong(), HalfSupport::Correct).choose(None, &[F32, F16, Bf16]),
        Ok(Bf16)
    );
    assert_eq!(
        probe(wrong(), wrong()).choose(None, &[Bf16, F16, Tf32, F32]),
        Ok(F32)
    );
    assert_eq!(probe(wrong(), wrong()).choose(None, &[F16, F32]), Ok(F32));
    assert_eq!(
        probe(wrong(), HalfSupport::Correct).choose(None, &[F16, Bf16]),
        Ok(Bf16)
    );
}

#[test]
fn a_requested_precision_is_used_or_an_error_never_replaced() {
    let probe = probe(HalfSupport::Correct, wrong());
    assert_eq!(probe.choose(Some(F16), &[F32, F16]), Ok(F16));
    assert_eq!(probe.choose(Some(F32), &[F32, F16]), Ok(F32));
    let error = probe
        .choose(Some(Bf16), &[F32, Bf16])
        .expect_err("it is wrong");
    assert_eq!(
        error.to_string(),
        "this device does not compute `bf16` correctly: wrong (3 + 5 is 0, expected 8)"
    );
    let error = probe
        .choose(Some(F16), &[F32, Bf16])
        .expect_err("it is not allowed");
    assert!(
        error
            .to_string()
            .contains("`f16` is not among those of the spec: `f32`, `bf16`"),
        "{error}"
    );
    assert!(probe.choose(Some(F32), &[F16]).is_err());
}

#[test]
fn only_a_correct_precision_is_chosen() {
    let why = || "no units".to_owned();
    for fault in [
        HalfSupport::Unsupported { why: why() },
        HalfSupport::StorageOnly { why: why() },
        wrong(),
    ] {
        let probe = probe(fault, wrong());
        assert!(matches!(
            probe.choose(Some(F16), &[F16]),
            Err(PrecisionError::NotCorrect { .. })
        ));
        assert!(matches!(
            probe.choose(None, &[F16, Bf16]),
            Err(PrecisionError::NoneCorrect { .. })
        ));
        assert!(matches!(
            probe.choose(None, &[]),
            Err(PrecisionError::NoneCorrect { .. })
        ));
    }
}

#[test]
fn the_host_computes_both_types_correctly() {
    let probe = probe_half_precision(&open(host_processor()).expect("the CPU computes"));
    for half in [&probe.f16, &probe.bf16] {
        assert_eq!(half.support, HalfSupport::Correct, "{half}");
        assert!(half.product_error <= half.product_tolerance, "{half}");
    }
}

#[test]
fn the_host_computes_f32_in_place_of_tf32() {
    // A fallback has the precision of the request, so a missing GPU does not turn into a model that
    // cannot be loaded.
    let probe = probe_half_precision(&open(host_processor()).expect("the CPU computes"));
    assert_eq!(probe.choose(Some(Tf32), &[F32, Tf32]), Ok(Tf32));
    assert!(probe.for_precision(Tf32).is_none());
}

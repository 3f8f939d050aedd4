//! The seven harnesses that the predecessor, which searched for strings, accepted wrongly.

use super::good_harness;
use testgen_verify::RuleId;

/// The rules that the good harness breaks once `init_rocm` has this body.
fn rules_broken_by(body: &str) -> Vec<RuleId> {
    let bert = good_harness::bert();
    let text = good_harness::harness(&bert);
    let start = text.find("pub fn init_rocm").expect("it is there");
    let open = start + text[start..].find("{\n").expect("a body");
    let close = open + text[open..].find("\n}\n").expect("its end");
    let broken = format!(
        "{}{{\n{}\n{}",
        &text[..open],
        body.replace("@BODY@", &text[open + 2..close]),
        &text[close + 1..]
    );
    let mut rules: Vec<RuleId> = good_harness::verify(&broken, &bert)
        .into_iter()
        .map(|finding| finding.rule)
        .collect();
    rules.dedup();
    rules
}

#[test]
fn good_body() {
    assert_eq!(rules_broken_by("@BODY@"), []);
}

#[test]
fn commented_out_body() {
    let rules = rules_broken_by(
        "/*\n@BODY@\n*/\nEndpoint::mock(&target.label, DeviceKind::Rocm, \"later\")",
    );
    assert_eq!(
        rules,
        [
            RuleId::DetectionPaths,
            RuleId::VisibilityReported,
            RuleId::MockMarked
        ]
    );
}

#[test]
fn body_that_is_not_implemented() {
    assert_eq!(
        rules_broken_by("unimplemented!(\"hip_runtime, cuda_compatibility\")"),
        [RuleId::Forbidden, RuleId::Readable]
    );
    let error = "Endpoint::mock(&target.label, DeviceKind::Rocm, \"NotImplemented\")";
    assert_eq!(
        rules_broken_by(error),
        [
            RuleId::DetectionPaths,
            RuleId::VisibilityReported,
            RuleId::MockMarked
        ]
    );
}

#[test]
fn renamed_function() {
    let bert = good_harness::bert();
    let text = good_harness::harness(&bert).replace("pub fn init_rocm(", "pub fn init_rocm_old(");
    let findings = good_harness::verify(&text, &bert);
    assert!(
        findings
            .iter()
            .any(|finding| finding.rule == RuleId::InitFunctions),
        "{findings:?}"
    );
}

#[test]
fn strings_only() {
    let rules = rules_broken_by(
        "let words = r#\"\n@BODY@\n\"#;\nEndpoint::mock(&target.label, DeviceKind::Rocm, words)",
    );
    assert_eq!(
        rules,
        [
            RuleId::DetectionPaths,
            RuleId::VisibilityReported,
            RuleId::MockMarked
        ]
    );
}

#[test]
fn undefined_names() {
    let body = "let device = detect_hip_runtime_or_cuda_compatibility(target);\nrun_on(device)";
    assert_eq!(rules_broken_by(body), [RuleId::Imports]);
}

#[test]
fn success_without_running() {
    let bert = good_harness::bert();
    let text = good_harness::harness(&bert).replace(
        "Endpoint::real(DeviceKind::Rocm, loaded, task::text_embedding)",
        "Endpoint::real(DeviceKind::Rocm, loaded, |_request| Ok(\"success\"))",
    );
    let findings = good_harness::verify(&text, &bert);
    assert!(
        matches!(findings.as_slice(), [only] if only.rule == RuleId::Handlers),
        "{findings:?}"
    );
}

#[test]
fn cpu_under_a_rocm_label() {
    let body = "init_cpu(target)";
    assert_eq!(
        rules_broken_by(body),
        [RuleId::DetectionPaths, RuleId::VisibilityReported]
    );
    let bert = good_harness::bert();
    let text =
        good_harness::harness(&bert).replace(".into_fallback(DeviceKind::Rocm, &unavailable)", "");
    let findings = good_harness::verify(&text, &bert);
    assert!(
        matches!(findings.as_slice(), [only] if only.rule == RuleId::FallbackMarked),
        "{findings:?}"
    );
}

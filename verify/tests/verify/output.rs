//! The output formats for people and programs.

use super::good_harness;
use testgen_verify::{Finding, render_human, render_json};

fn findings() -> (String, Vec<Finding>) {
    let text = good_harness::harness(&good_harness::bert())
        .replace("cuda_compatibility(target)", "cuda_compatibility(0)")
        .replace(
            "skipped: &[",
            "skipped: &[Skip::on(DeviceKind::Rocm, Check::Finite, \"slow\"), ",
        );
    let findings = good_harness::verify(&text, &good_harness::bert());
    (text, findings)
}

#[test]
fn human() {
    let (text, findings) = findings();
    insta::assert_snapshot!(render_human(&findings, &|path| (path
        == good_harness::PATH)
        .then(|| text.clone())));
}

#[test]
fn human_without_the_source() {
    insta::assert_snapshot!(render_human(&findings().1, &|_| None));
}

#[test]
fn json() {
    insta::assert_snapshot!(render_json(&findings().1));
}

#[test]
fn nothing() {
    assert_eq!(render_human(&[], &|_| None), "");
    insta::assert_snapshot!(render_json(&[]));
}

#[test]
fn output_is_sorted_and_cannot_steer_the_terminal() {
    let (text, mut findings) = findings();
    let sorted = render_json(&findings);
    findings.reverse();
    assert_eq!(render_json(&findings), sorted);
    findings[0].message = "\u{1b}[2J".to_owned();
    assert!(
        !render_human(&findings, &|_| Some(text.replace(' ', "\u{7}")))
            .contains(['\u{1b}', '\u{7}'])
    );
}

#[test]
fn the_mark_ends_with_the_line() {
    let (text, mut findings) = findings();
    findings.truncate(1);
    let line = text
        .lines()
        .nth(findings[0].line - 1)
        .expect("it is there")
        .len();
    let marks = |finding: &Finding| {
        let shown = render_human(std::slice::from_ref(finding), &|_| Some(text.clone()));
        shown
            .lines()
            .filter(|line| line.contains(" | "))
            .map(|line| line.matches('^').count())
            .sum::<usize>()
    };
    let rest = line - (findings[0].column - 1);
    findings[0].end_column = line + 1;
    assert_eq!(marks(&findings[0]), rest);
    findings[0].end_column = line;
    assert_eq!(marks(&findings[0]), rest - 1);
    findings[0].end_column = line + 40;
    assert_eq!(marks(&findings[0]), rest);
    findings[0].column = line + 1;
    assert_eq!(marks(&findings[0]), 0);
}

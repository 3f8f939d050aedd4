//! A snapshot of the normal form of the good harness, which is the input of the rules.

use super::good_harness;
use testgen_verify::normal_form;

#[test]
fn paths_through_init_rocm() {
    let text = good_harness::harness(&good_harness::bert());
    insta::assert_snapshot!(normal_form(&text, "init_rocm").expect("it is there"));
}

#[test]
fn no_such_function() {
    assert_eq!(
        normal_form(&good_harness::harness(&good_harness::bert()), "init_tpu"),
        None
    );
    assert_eq!(normal_form("fn", "init_rocm"), None);
}

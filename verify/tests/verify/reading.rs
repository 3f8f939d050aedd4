//! The normal form of the good harness, for people: what the rules see.

use super::good_harness;
use testgen_verify::normal_form;

#[test]
fn ways_through_init_rocm() {
    let text = good_harness::harness(&good_harness::bert());
    insta::assert_snapshot!(normal_form(&text, "init_rocm").expect("it is there"));
}

#[test]
fn no_such_function() {
    assert_eq!(normal_form(&good_harness::harness(&good_harness::bert()), "init_tpu"), None);
    assert_eq!(normal_form("fn", "init_rocm"), None);
}

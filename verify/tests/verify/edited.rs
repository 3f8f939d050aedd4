//! Small edits of the good harness, and exactly the rules that each breaks: what comes close to being accepted.

use super::good_harness;
use testgen_verify::RuleId::{
    self, FallbackMarked, Forbidden, Handlers, Imports, MemoryReported, MockMarked, PrecisionFromProbe, Readable,
    VisibilityReported,
};

const REPORT: &str = "report_visibility(label, &visibility);";
const TOLD: &str =
    "fn told(label: &str, visibility: &Visibility) -> bool { report_visibility(label, visibility); true }";

/// The rules that the good harness breaks with `to` for the first `from` of `init_rocm`, and `added` at its end.
fn broken_by(from: &str, to: &str, added: &str) -> Vec<RuleId> {
    let bert = good_harness::bert();
    let text = good_harness::harness(&bert);
    let (before, after) = text.split_at(text.find("pub fn init_rocm").expect("it is there"));
    assert!(after.contains(from), "{from}");
    let text = format!("{before}{}{added}\n", after.replacen(from, to, 1));
    let mut rules: Vec<RuleId> = good_harness::verify(&text, &bert).into_iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

#[test]
fn functions_of_the_language_are_not_what_they_take() {
    let mock = "Endpoint::mock(label, DeviceKind::Rocm, &error)";
    assert_eq!(broken_by(mock, &mock.replace("label", "&String::from(label)"), ""), []);
    assert_eq!(broken_by(mock, &mock.replace("label", "str::trim(label)"), ""), [MockMarked]);
}

#[test]
fn a_panic_on_one_way() {
    let to = format!("{REPORT}\nif visibility.is_empty() {{ panic!(\"hidden\"); }}");
    assert_eq!(broken_by(REPORT, &to, ""), [Forbidden]);
}

#[test]
fn macros_that_do_more_than_print() {
    let with = |statement: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), "");
    assert_eq!(with("eprintln!(\"{:?} {}\", &visibility, -1);"), []);
    assert_eq!(with("eprintln!(\"{:?}\", &hip_runtime(request.index));"), [Readable]);
    assert_eq!(with("eprintln!(\"{:?}\", &mut visibility);"), [Readable]);
    assert_eq!(with("eprintln!(\"{:?}\", visibility == hip_runtime(request.index));"), [Readable]);
    assert_eq!(with("eprintln!(\"{:?}\", visibility.or(hip_runtime(request.index)));"), [Readable]);
}

#[test]
fn conditions_that_are_values() {
    let told = |condition: &str| broken_by(REPORT, &format!("let said = {condition};"), TOLD);
    assert_eq!(told("told(label, &visibility)"), []);
    assert_eq!(told("told(label, &visibility) && visibility.is_set()"), []);
    assert_eq!(told("visibility.is_set() && told(label, &visibility)"), [VisibilityReported]);
    assert_eq!(told("visibility.is_set() || told(label, &visibility)"), [VisibilityReported]);
    let reported_if = |value: &str| broken_by(REPORT, &format!("let on = {value}; if on {{ {REPORT} }}"), "");
    assert_eq!(reported_if("true"), []);
    assert_eq!(reported_if("!true"), [VisibilityReported]);
    assert_eq!(reported_if("!(true && !true)"), []);
}

#[test]
fn memory_that_is_reported_of_something_else() {
    let report = "report_memory(label, \"before the load\", &before);";
    let with = |to: &str| broken_by(report, to, "");
    assert_eq!(with("report_memory(\"rocm\", \"before the load\", &before);"), [MemoryReported]);
    assert_eq!(with("report_memory(label, \"now\", &before);"), [MemoryReported]);
    assert_eq!(with("report_memory(label, \"before the load\", &visibility);"), [MemoryReported]);
    assert_eq!(with(&format!("{report} report_memory(label, \"now\", &before);")), []);
}

/// A name is what it is in its own block alone.
#[test]
fn variables_end_with_their_block() {
    let after = |statement: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), "");
    assert_eq!(after("{ let label = \"inner\"; eprintln!(\"{label}\"); }"), []);
    assert_eq!(after("if visibility.is_set() { let label = \"inner\"; eprintln!(\"{label}\"); }"), []);
    assert_eq!(after("if let Some(label) = request.precision { eprintln!(\"{label}\"); }"), []);
    assert_eq!(after("match request.precision { Some(label) => eprintln!(\"{label}\"), None => {} }"), []);
    assert_eq!(after("let shown = |label: &str| eprintln!(\"{label}\"); shown(\"inner\");"), []);
    assert_eq!(
        after("let label = \"outer\";"),
        [FallbackMarked, MockMarked, PrecisionFromProbe, MemoryReported, Handlers]
    );
}

#[test]
fn patterns_that_look_like_variables() {
    let early = "return Endpoint::mock(label, DeviceKind::Rocm, \"early\")";
    let after = |statement: &str, added: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), added);
    assert_eq!(after("match request.index { index => {} }", ""), []);
    let constant = format!("match request.index {{ FIRST => {{}}, _ => {early}, }}");
    assert_eq!(after(&constant, "const FIRST: u8 = 0;"), [Readable]);
    let bound = format!("match request.index {{ index @ Some(_) => {{}}, _ => {early}, }}");
    assert_eq!(after(&bound, ""), [Readable]);
}

/// Every kind of item that has a name takes it from whoever had it.
#[test]
fn items_with_the_names_of_others() {
    let items = [
        "const NAME: u8 = 0;",
        "enum NAME {}",
        "extern crate NAME;",
        "extern crate other as NAME;",
        "fn NAME() {}",
        "macro_rules! NAME { () => {} }",
        "mod NAME {}",
        "static NAME: u8 = 0;",
        "struct NAME;",
        "trait NAME {}",
        "trait NAME = Clone;",
        "type NAME = u8;",
        "union NAME { one: u8 }",
    ];
    for item in items {
        for name in ["testgen_runtime", "PrecisionError", "hip_runtime", "Some", "drop", "eprintln", "todo", "assert"] {
            let rules = broken_by("", "", &item.replace("NAME", name));
            assert!(rules.contains(&Imports), "{}: {rules:?}", item.replace("NAME", name));
        }
        let rules = broken_by("", "", &item.replace("NAME", "of_its_own"));
        assert!(!rules.contains(&Imports), "{item}: {rules:?}");
    }
}

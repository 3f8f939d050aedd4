//! Small edits of the good harness, and exactly the rules that each breaks: what comes close to
//! being accepted.

use super::good_harness;
use testgen_verify::RuleId::{
    self, DetectionPaths, FallbackMarked, Forbidden, Handlers, HarnessStatic, Header, Imports,
    InitFunctions, MemoryReported, MockMarked, PrecisionFromProbe, Readable, SkippedChecks,
    SpecStatic, VisibilityReported,
};

const REPORT: &str = "report_visibility(&target.label, &visible_devices());";
const REPORTED: &str = "fn reported(target: &LoadTarget) -> bool { report_visibility(&target.label, &visible_devices()); true }";

/// The rules that the good harness breaks with `to` for the first `from` of `init_rocm`, and
/// `added` at its end.
fn broken_by(from: &str, to: &str, added: &str) -> Vec<RuleId> {
    let bert = good_harness::bert();
    let text = good_harness::harness(&bert);
    let (before, after) = text.split_at(text.find("pub fn init_rocm").expect("it is there"));
    assert!(after.contains(from), "{from}");
    rules(&format!("{before}{}{added}\n", after.replacen(from, to, 1)))
}

/// The rules that `text` breaks as BERT's harness.
fn rules(text: &str) -> Vec<RuleId> {
    let findings = good_harness::verify(text, &good_harness::bert());
    let mut rules: Vec<RuleId> = findings.into_iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

/// The rules that the good harness breaks with `to` for the first `from` of the whole file.
fn broken_anywhere(from: &str, to: &str) -> Vec<RuleId> {
    let text = good_harness::harness(&good_harness::bert());
    assert!(text.contains(from), "{from}");
    rules(&text.replacen(from, to, 1))
}

#[test]
fn functions_of_the_language_are_not_what_they_take() {
    let mock = "Endpoint::mock(&target.label, DeviceKind::Rocm, &error)";
    assert_eq!(
        broken_by(
            mock,
            &mock.replace("&target.label", "&String::from(target.label)"),
            ""
        ),
        []
    );
    assert_eq!(
        broken_by(
            mock,
            &mock.replace("&target.label", "str::trim(target.label)"),
            ""
        ),
        [MockMarked]
    );
}

#[test]
fn a_panic_on_one_way() {
    let to = format!("{REPORT}\nif target.is_hidden() {{ panic!(\"hidden\"); }}");
    assert_eq!(broken_by(REPORT, &to, ""), [Forbidden]);
}

#[test]
fn macros_that_do_more_than_print() {
    let with = |statement: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), "");
    assert_eq!(with("eprintln!(\"{:?} {}\", &target, -1);"), []);
    assert_eq!(
        with("eprintln!(\"{:?}\", &hip_runtime(target));"),
        [Readable]
    );
    assert_eq!(with("eprintln!(\"{:?}\", &mut target);"), [Readable]);
    assert_eq!(
        with("eprintln!(\"{:?}\", target == hip_runtime(target));"),
        [Readable]
    );
    assert_eq!(
        with("eprintln!(\"{:?}\", target.or(hip_runtime(target)));"),
        [Readable]
    );
}

#[test]
fn conditions_that_are_values() {
    let with = |condition: &str| broken_by(REPORT, &format!("let done = {condition};"), REPORTED);
    assert_eq!(with("reported(target)"), []);
    assert_eq!(with("reported(target) && target.is_set()"), []);
    assert_eq!(
        with("target.is_set() && reported(target)"),
        [VisibilityReported]
    );
    assert_eq!(
        with("target.is_set() || reported(target)"),
        [VisibilityReported]
    );
    let reported_if = |value: &str| {
        broken_by(
            REPORT,
            &format!("let on = {value}; if on {{ {REPORT} }}"),
            "",
        )
    };
    assert_eq!(reported_if("true"), []);
    assert_eq!(reported_if("!true"), [VisibilityReported]);
    assert_eq!(reported_if("!(true && !true)"), []);
}

#[test]
fn memory_that_is_reported_of_something_else() {
    let report = "report_memory(&target.label, \"before the load\", &before);";
    let with = |to: &str| broken_by(report, to, "");
    assert_eq!(
        with("report_memory(\"rocm\", \"before the load\", &before);"),
        [MemoryReported]
    );
    assert_eq!(
        with("report_memory(&target.label, \"now\", &before);"),
        [MemoryReported]
    );
    assert_eq!(
        with("report_memory(&target.label, \"before the load\", &probe);"),
        [MemoryReported]
    );
    assert_eq!(
        with(&format!(
            "{report} report_memory(&target.label, \"now\", &before);"
        )),
        []
    );
}

/// A name is what it is in its own block alone.
#[test]
fn variables_end_with_their_block() {
    let after = |statement: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), "");
    assert_eq!(
        after("{ let target = \"inner\"; eprintln!(\"{target}\"); }"),
        []
    );
    assert_eq!(
        after("if target.is_set() { let target = \"inner\"; eprintln!(\"{target}\"); }"),
        []
    );
    assert_eq!(
        after("if let Some(target) = target.precision { eprintln!(\"{target}\"); }"),
        []
    );
    assert_eq!(
        after("match target.precision { Some(target) => eprintln!(\"{target}\"), None => {} }"),
        []
    );
    assert_eq!(
        after("let shown = |target: &str| eprintln!(\"{target}\"); shown(\"inner\");"),
        []
    );
    assert_eq!(
        after("let target = &target.clone().on(DeviceKind::Rocm);"),
        [
            DetectionPaths,
            FallbackMarked,
            MockMarked,
            PrecisionFromProbe,
            MemoryReported,
            Handlers
        ]
    );
}

#[test]
fn patterns_that_look_like_variables() {
    let early = "return Endpoint::mock(&target.label, DeviceKind::Rocm, \"early\")";
    let after =
        |statement: &str, added: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), added);
    assert_eq!(after("match target.index { index => {} }", ""), []);
    let constant = format!("match target.index {{ FIRST => {{}}, _ => {early}, }}");
    assert_eq!(after(&constant, "const FIRST: u8 = 0;"), [Readable]);
    let bound = format!("match target.index {{ index @ Some(_) => {{}}, _ => {early}, }}");
    assert_eq!(after(&bound, ""), [Readable]);
}

/// Every kind of named item replaces the item whose name it takes.
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
        for name in [
            "testgen_runtime",
            "PrecisionError",
            "hip_runtime",
            "Some",
            "drop",
            "eprintln",
            "todo",
            "assert",
        ] {
            let rules = broken_by("", "", &item.replace("NAME", name));
            assert!(
                rules.contains(&Imports),
                "{}: {rules:?}",
                item.replace("NAME", name)
            );
        }
        let rules = broken_by("", "", &item.replace("NAME", "of_its_own"));
        assert!(!rules.contains(&Imports), "{item}: {rules:?}");
    }
}

#[test]
fn imports_under_other_names() {
    let bert = good_harness::harness(&good_harness::bert());
    let text = bert.replacen(
        "use testgen_runtime::{",
        "use testgen_runtime::{self as rt, ",
        1,
    );
    assert_eq!(
        rules(&text.replace(
            REPORT,
            "rt::report_visibility(&target.label, &rt::visible_devices());"
        )),
        []
    );
    let swapped = bert.replacen(" DeviceKind,", " DeviceKind as Precision,", 1);
    let swapped = swapped.replacen("    Precision,", "    Precision as DeviceKind,", 1);
    assert_eq!(
        rules(&swapped),
        [
            Imports,
            SpecStatic,
            FallbackMarked,
            MockMarked,
            Handlers,
            SkippedChecks
        ]
    );
}

#[test]
fn variants_of_another_kind_and_longer_paths() {
    let skip = "on_in_precision(DeviceKind::Cpu,";
    let listed = |device: &str| broken_by(skip, &format!("on_in_precision({device},"), "");
    assert_eq!(listed("DeviceKind::Cpu"), []);
    for wrong in ["Precision::Cpu", "DeviceKind::Cpu::More"] {
        assert_eq!(listed(wrong), [SkippedChecks], "{wrong}");
    }
}

#[test]
fn a_harness_with_the_rest_of_another() {
    let rules = broken_by("    ],\n};", "    ],\n    ..OTHER\n};", "");
    assert_eq!(rules, [HarnessStatic]);
}

#[test]
fn helpers_called_often_are_not_called_deeply() {
    let calls = "reported(target);".repeat(40);
    assert_eq!(broken_by(REPORT, &calls, REPORTED), []);
}

#[test]
fn types_in_parentheses() {
    assert_eq!(
        broken_by("target: &LoadTarget", "target: (&LoadTarget)", ""),
        []
    );
    assert_eq!(
        broken_by("target: &LoadTarget", "target: (&[u8])", ""),
        [InitFunctions]
    );
}

#[test]
fn none_and_tuples_of_other_lengths() {
    let early = "return Endpoint::mock(&target.label, DeviceKind::Rocm, \"early\")";
    let after = |statement: &str| broken_by(REPORT, &format!("{REPORT}\n{statement}"), "");
    assert_eq!(
        after(&format!(
            "let none = None; if let Some(()) = none {{ {early}; }}"
        )),
        []
    );
    assert_eq!(
        after(&format!(
            "let none = Option::None; if let Some(()) = none {{ {early}; }}"
        )),
        []
    );
    assert_eq!(after("let (_first, _second) = (0, 1);"), []);
    assert_eq!(after("let (_first, _second) = (0, 1, 2);"), [Readable]);
}

#[test]
fn expressions_in_place_of_the_right_ones() {
    assert_eq!(
        broken_anywhere(
            "//! - template: `encoder_only.rs.tera`",
            "#![note = \"- template: `encoder_only.rs.tera`\"]"
        ),
        [Header, Forbidden]
    );
    assert_eq!(
        broken_by(
            "",
            "",
            "#[expect(dead_code, reason = \"for a test\")] fn alone() {}"
        ),
        []
    );
    assert_eq!(
        broken_by(
            "",
            "",
            "#[expect(dead_code, note = \"for a test\")] fn alone() {}"
        ),
        [Forbidden]
    );
    assert_eq!(
        broken_anywhere(
            "Skip::on_in_precision(DeviceKind::Cpu",
            "Skip::on(DeviceKind::Cpu"
        ),
        [SkippedChecks]
    );
}

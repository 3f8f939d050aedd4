//! The properties that hold for every input of a fuzzed function.

use crate::{
    generate::{HarnessExpectation, SuiteLayout},
    matrix::{CiFormat, MatrixPlan, render},
    report::{render_junit, render_markdown, render_page, render_structured},
    results::read::MergedReport,
    settings::Settings,
    spec::{self, LoadedSpec, SpecErrors, SpecFile},
    template::Templates,
};
use std::{path::Path, sync::Arc};
use testgen_verify::{HarnessSource as Code, verify_all};

/// The spec in a text, or its errors.
pub(super) fn read_spec(text: &str) -> Result<spec::ModelSpec, String> {
    let stem = text
        .lines()
        .find_map(|line| line.strip_prefix("name: "))
        .unwrap_or("checkpoint");
    let file = SpecFile {
        path: "bert.yaml".to_owned(),
        stem: stem.trim().to_owned(),
        text: text.into(),
    };
    spec::read(&file).map_err(|problems| SpecErrors { problems }.to_string())
}

/// A spec as if it were in this repository.
pub(super) fn loaded(text: &str, spec: spec::ModelSpec) -> LoadedSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("model_specs/encoder_only/bert.yaml");
    LoadedSpec {
        path,
        text: Arc::from(text),
        spec,
    }
}

/// The directories of this repository.
pub(super) fn layout() -> SuiteLayout {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = Settings {
        specs: root.join("model_specs"),
        out: root.join("generated"),
        templates: None,
        runtime: None,
        engines: Vec::new(),
    };
    SuiteLayout::new(&settings).expect("the directories are those of this repository")
}

/// The harness of an accepted spec is valid Rust without findings.
pub(super) fn assert_harness(text: &str, spec: spec::ModelSpec) -> String {
    thread_local! { static TEMPLATES: Templates = Templates::load(None).expect("the templates are valid"); }
    let (loaded, layout) = (loaded(text, spec), layout());
    let harness = HarnessExpectation::new(&loaded, &layout).expect("the paths are valid");
    let code = TEMPLATES.with(|templates| HarnessExpectation::render(&loaded, &layout, templates));
    let code = code.unwrap_or_else(|error| panic!("an accepted spec does not render: {error}"));
    let findings = verify_all(&[(
        Code {
            path: &harness.path,
            text: &code,
        },
        Some(&harness.expectation),
    )])
    .concat();
    assert!(
        findings.is_empty(),
        "an accepted spec has findings: {findings:?}"
    );
    format!("{} {}", loaded.spec.architecture, loaded.spec.task)
}

/// Every file of every CI system is what it claims to be.
pub(super) fn assert_files(plan: &MatrixPlan) -> String {
    for format in [CiFormat::Github, CiFormat::Gitlab, CiFormat::Json] {
        for text in render(plan, format)
            .into_iter()
            .filter_map(|file| file.text)
        {
            // JSON is YAML, too.
            let parsed: Result<serde_json::Value, _> = serde_yaml::from_str(&text);
            assert!(parsed.is_ok(), "{format:?}: {parsed:?}\n{text}");
        }
    }
    "a plan".to_owned()
}

/// Every form of a report is complete and cannot be broken by texts in it.
pub(super) fn assert_forms(merged: &MergedReport) {
    assert!(
        render_page(merged, None).ends_with("</html>\n"),
        "the page is complete"
    );
    let junit = render_junit(merged);
    assert!(
        junit
            .chars()
            .all(|c| !c.is_control() || matches!(c, '\n' | '\t')),
        "XML has no control characters"
    );
    assert!(junit.trim_end().ends_with("</testsuites>"), "{junit}");
    let json: serde_json::Value =
        serde_json::from_str(&render_structured(merged, None)).expect("it is JSON");
    assert!(json.is_object());
    assert!(
        !render_markdown(merged, None).contains("<script"),
        "Markdown has no markup of the input"
    );
}

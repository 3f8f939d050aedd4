//! The functions that are fuzzed. None may panic, messages are limited, and what is accepted can be
//! processed further (`property`).

use super::property::{assert_files, assert_forms, assert_harness, layout, loaded, read_spec};
use crate::{
    add::{self, SpecHeader},
    generate::HarnessExpectation,
    matrix::{Ci, MatrixPlan},
    results::{
        expected_failure::ExpectedFailures,
        read::{MergedReport, ReportSource, parse_lines},
    },
    settings, spec,
    template::Templates,
};
use std::{fs, path::Path};
use testgen_fuzz::{Target, assert_message, scratch_directory, seeds};
use testgen_types::ReportEntry;
use testgen_verify::{HarnessSource as Code, verify_all};

const BERT: &str = "name: bert\nmodel_type: bert\narchitecture: encoder_only\ntask: text_embedding\ncheckpoint:\n  fixture: bert\n\
                    devices: [cpu, cuda, rocm]\nprecisions: [f32, f16, bf16]\n";

#[test]
fn specs() {
    Target {
        name: "spec",
        seeds: seeds(&repository().join("model_specs"), Some("yaml")),
        dictionary: &[
            "name",
            "model_type",
            "architecture",
            "task",
            "checkpoint",
            "fixture",
            "path",
            "hub",
            "devices",
            "precisions",
            "checks",
            "skip",
            "xfail",
            "tolerance",
            "reason",
            "expires",
            "memory",
            "vram_mib",
            "limits",
            "seconds",
            "cpu",
            "rocm",
            "f16",
            "output",
            "rel_l2",
            "<<: *a",
            "&a ",
            "*a",
            "---\n",
            "? ",
            "- ",
            ": ",
            "!!binary ",
            "|-\n",
            ">\n",
            "%YAML 1.1\n",
            "\u{feff}",
        ],
        executions: 800,
        repair: None,
        behaviours: 20,
        check: &|bytes| {
            let text = &*String::from_utf8_lossy(bytes);
            match read_spec(text) {
                Err(message) => assert_message(&message),
                Ok(spec) => assert_harness(text, spec),
            }
        },
    }
    .run();
}

#[test]
fn settings_files() {
    Target {
        name: "settings",
        seeds: Vec::new(),
        dictionary: &[
            "[ci]",
            "[[ci.runner]]",
            "[ci.shards]",
            "[[xfail]]",
            "name",
            "device",
            "family",
            "labels",
            "tiers",
            "weight",
            "gpus",
            "\"rocm\"",
            "\"nightly\"",
            "image",
            "timeout_minutes",
            "specs",
            "out",
            "templates",
            "runtime",
            "= ",
            "\"\"\"",
            "'''",
            "1979-05-27",
            "{ a = 1 }",
            "[1, 2]",
            "true",
        ],
        executions: 800,
        repair: None,
        behaviours: 20,
        check: &|bytes| {
            let text = &*String::from_utf8_lossy(bytes);
            match settings::parse(text, Path::new("testgen.toml")) {
                Err(error) => assert_message(&error.to_string()),
                Ok(file) => match Ci::from_settings(&file) {
                    Err(error) => assert_message(&error.to_string()),
                    Ok(ci) => {
                        let spec = read_spec(BERT).expect("it is valid");
                        match MatrixPlan::new(
                            ci,
                            "generated".to_owned(),
                            &[loaded(BERT, spec)],
                            Vec::new(),
                        ) {
                            Err(error) => assert_message(&error.to_string()),
                            Ok(plan) => assert_files(&plan),
                        }
                    }
                },
            }
        },
    }
    .run();
}

#[test]
fn templates() {
    Target {
        name: "template",
        seeds: seeds(&repository().join("templates"), Some("tera")),
        dictionary: &[
            "{% extends \"model.rs.tera\" %}",
            "{% block request %}",
            "{% endblock %}",
            "{% for x in devices %}",
            "{% endfor %}",
            "{% if name %}",
            "{% endif %}",
            "{{ name }}",
            "{{ super() }}",
            "{# ",
            "{% raw %}",
            "| rust_string",
            "{% set x = 1 %}",
            "//!",
            "fn f() {}",
            "{{",
            "}}",
            "{%",
            "%}",
        ],
        executions: 60,
        repair: None,
        behaviours: 3,
        check: &|bytes| {
            let text = &*String::from_utf8_lossy(bytes);
            match Templates::with_override("encoder_only.rs.tera", text) {
                Err(error) => assert_message(&error.to_string()),
                Ok(templates) => {
                    let spec = loaded(BERT, read_spec(BERT).expect("it is valid"));
                    match HarnessExpectation::render(&spec, &layout(), &templates) {
                        Err(error) => assert_message(&error.to_string()),
                        Ok(code) => {
                            let findings = verify_all(&[(
                                Code {
                                    path: "bert.rs",
                                    text: &code,
                                },
                                None,
                            )]);
                            format!("{} findings", findings.concat().len().min(20))
                        }
                    }
                }
            }
        },
    }
    .run();
}

#[test]
fn reports() {
    Target {
        name: "report",
        seeds: Vec::new(),
        dictionary: &[
            "\"version\":1,",
            "\"status\":\"pass\"",
            "\"mock\":true,",
            "\"fallback\":true,",
            "\"simulated\":true,",
            "\"outputs\":[",
            "\"device_name\":null,",
            "\"reason\":\"",
            "\"headroom\":",
            "\"worst\":[{\"index\":[",
            "\"rocm\"",
            "\"hardware\":{",
            "null",
            "1e400",
            "\\u0000",
            "\\ud800",
            "]]>",
            "<script>",
            "\n",
        ],
        executions: 600,
        repair: None,
        behaviours: 10,
        check: &|bytes| {
            let lines = parse_lines(&String::from_utf8_lossy(bytes));
            for entry in &lines.entries {
                let json = serde_json::to_string(entry).expect("an entry is JSON");
                let again: ReportEntry = serde_json::from_str(&json).expect("it is read back");
                assert_eq!(format!("{entry:?}"), format!("{again:?}"));
            }
            let problems: Vec<String> = lines
                .problems
                .iter()
                .map(|problem| assert_message(&problem.to_string()))
                .collect();
            let source = ReportSource {
                name: "a.jsonl".to_owned(),
                entries: lines.entries,
                problems: lines.problems,
            };
            let today = jiff::civil::date(2026, 1, 1);
            let merged = MergedReport::new(vec![source], &ExpectedFailures::new(Vec::new(), today));
            assert_forms(&merged);
            format!("{} {problems:?}", merged.is_green())
        },
    }
    .run();
}

#[test]
fn configurations() {
    let directory = scratch_directory();
    let path = directory.path().join("checkpoint");
    fs::create_dir(&path).expect("it can be made");
    Target {
        name: "config",
        seeds: seeds(&repository().join("fixtures"), Some("json")),
        dictionary: &[
            "\"model_type\": ",
            "\"architectures\": [",
            "\"_class_name\": ",
            "\"BertModel\"",
            "\"LlamaForCausalLM\"",
            "null",
            "NaN",
            "Infinity",
            "1e400",
            "\\ud800",
            "{\"a\":",
            "[[[[",
            "\"hidden_size\": ",
        ],
        executions: 800,
        repair: None,
        behaviours: 10,
        check: &|bytes| {
            fs::write(path.join("config.json"), bytes).expect("it can be written");
            let found = match add::inspect(&path, None) {
                Err(error) => return assert_message(&error.to_string()),
                Ok(found) => found,
            };
            let name = add::name(&path, None).expect("the directory has a valid name");
            let checkpoint = spec::CheckpointSource {
                place: spec::CheckpointPlace::Fixture("checkpoint".to_owned()),
                quantise: None,
                hub: None,
            };
            let text = add::spec_text(
                &name,
                &found,
                &checkpoint,
                SpecHeader {
                    schema: None,
                    comment: Some("a\nb"),
                },
            );
            let spec = read_spec(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
            let model_type = spec.subject.model().map(|model| model.model_type);
            assert_eq!(model_type, Some(found.model_type), "{text}");
            assert_eq!(spec.task, found.task);
            format!("{} {}", found.model_type, spec.task)
        },
    }
    .run();
}

/// The root of this repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

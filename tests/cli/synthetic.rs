//! Synthetic checkpoints: what `record` writes, and recordings that a changed spec makes obsolete.

use crate::project::{BERT, Outcome, Project};
use std::fs;

const SYNTHETIC: &str =
    "synthetic: { seed: 7, config: { architectures: [BertModel], model_type: bert } }";
const RECORDED: &str = "model_specs/bert";

fn spec(seed: &str) -> String {
    let synthetic = SYNTHETIC.replace("seed: 7", &format!("seed: {seed}"));
    BERT.replace("fixture: bert", &synthetic)
}

fn project() -> Project {
    let project = Project::empty();
    project.write("model_specs/bert.yaml", spec("7"));
    project
}

/// Runs `testgen record bert` with a script in place of Python: it lists one tensor, and records a
/// golden where there are weights. With a scheme, the tensor is a layer that it quantizes.
fn record(project: &Project, body: &str, arguments: &[&str]) -> Outcome {
    let text = format!(
        "#!/bin/sh\nfor directory; do :; done\ncase \"$*\" in\n*--recipe=*)\n\
         seed=${{4#--recipe=}} scheme= tensor='\"name\": \"a\", \"shape\": [2]'\n\
         case \"$5\" in --quantise=*)\n\
         scheme='\"quantise\": \"'${{5#--quantise=}}'\", ' tensor='\"name\": \"a.weight\", \"shape\": [2, 2], \"quantise\": true';;\nesac\n\
         echo '{{\"seed\": '$seed', '$scheme'\"tensors\": [{{'$tensor', \"dtype\": \"F32\", \"mean\": 0, \"std\": 1}}]}}' \
         > \"$directory/synthetic.json\";;\n\
         *)\necho \"note: \\`$directory\\` has no request\" >&2\n{body}\nwc -c < \"$directory/model.safetensors\" > \"$directory/golden.safetensors\";;\nesac\n"
    );
    let python = project.script("bin/fake-python", text);
    project.finish(
        project
            .command()
            .env("TESTGEN_CACHE", project.path("cache"))
            .args(["record", "bert", "--python"])
            .arg(python)
            .args(arguments),
    )
}

fn recorded(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.path(RECORDED)).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("is UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn everything_but_the_weights_is_recorded_beside_the_spec() {
    let project = project();
    let outcome = record(&project, "", &[]).expect_code(0);
    assert_eq!(outcome.stdout, "model_specs/bert/golden.safetensors\n");
    assert_eq!(outcome.stderr, "note: `model_specs/bert` has no request\n");
    let expected = ["config.json", "golden.safetensors", "synthetic.json"];
    assert_eq!(recorded(&project), expected);
    // The header, its length, and two values.
    assert_eq!(
        project.read("model_specs/bert/golden.safetensors").trim(),
        "104"
    );
    assert_eq!(
        project.read("model_specs/bert/config.json"),
        "{\n  \"architectures\": [\n    \"BertModel\"\n  ],\n  \"model_type\": \"bert\"\n}\n"
    );
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn a_recorder_that_fails_leaves_no_recording() {
    let project = project();
    record(&project, "exit 1", &[]).expect_code(2);
    assert_eq!(recorded(&project), Vec::<String>::new());
}

#[test]
fn a_golden_is_replaced_on_request() {
    let project = project();
    record(&project, "", &[]).expect_code(0);
    project.write("model_specs/bert.yaml", spec("8"));
    let refused = record(&project, "", &[]).expect_code(2);
    assert!(
        refused.stderr.contains(
            "`model_specs/bert/golden.safetensors` exists\nhelp: give --force to replace it"
        ),
        "{}",
        refused.stderr
    );
    assert!(
        project
            .read("model_specs/bert/synthetic.json")
            .contains("\"seed\": 7")
    );
    record(&project, "", &["--force"]).expect_code(0);
    assert!(
        project
            .read("model_specs/bert/synthetic.json")
            .contains("\"seed\": 8")
    );
}

#[test]
fn a_changed_spec_needs_another_recording() {
    let project = project();
    record(&project, "", &[]).expect_code(0);
    let error = |text: String| {
        project.write("model_specs/bert.yaml", text);
        project.run(&["generate"]).expect_code(2).stderr
    };
    let help = "help: record it again with `testgen record bert --force`, or undo the change\n";
    assert_eq!(
        error(spec("8")),
        format!(
            "error: `checkpoint.synthetic.seed` of `model_specs/bert.yaml` is not the recorded one\n{help}"
        )
    );
    assert_eq!(
        error(spec("7").replace("bert }", "bert, eps: 1 }")),
        format!(
            "error: `checkpoint.synthetic.config` of `model_specs/bert.yaml` is not the recorded one\n{help}"
        )
    );
}

#[test]
fn the_configuration_may_be_a_file() {
    let project = Project::empty();
    let config = "{ architectures: [BertModel], model_type: bert }";
    project.write(
        "model_specs/bert.yaml",
        spec("7").replace(config, "../bert.json"),
    );
    project.write("bert.json", "{\"model_type\": \"bert\", \"eps\": 1e-12}");
    record(&project, "", &[]).expect_code(0);
    assert_eq!(
        project.read("model_specs/bert/config.json"),
        project.read("bert.json")
    );
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn a_quantized_checkpoint_is_recorded_with_its_dequantized_weights() {
    let project = project();
    let quantised = |scheme: &str| {
        let text = spec("7").replace(SYNTHETIC, &format!("{SYNTHETIC}\n  quantise: {scheme}"));
        project.write("model_specs/bert.yaml", text);
    };
    quantised("fp8-tensor");
    record(&project, "", &[]).expect_code(0);
    let expected = ["config.json", "golden.safetensors", "synthetic.json"];
    assert_eq!(recorded(&project), expected);
    // The room for a header of dequantized tensors, and four values.
    assert_eq!(
        project.read("model_specs/bert/golden.safetensors").trim(),
        "416"
    );
    let config = project.read("model_specs/bert/config.json");
    assert!(!config.contains("quantization_config"), "{config}");
    project.run(&["generate"]).expect_code(0);
    quantised("bnb-int8");
    let error = project.run(&["generate"]).expect_code(2).stderr;
    assert!(
        error.contains(
            "`checkpoint.quantise` of `model_specs/bert.yaml` is not the recorded one\nhelp: record it again"
        ),
        "{error}"
    );
    // What the scheme does not divide is an error before anything is recorded.
    quantised("fp8-block-128");
    let error = record(&project, "", &["--force"]).expect_code(2).stderr;
    assert!(
        error.contains(
            "`fp8-block-128` cannot quantize `a`: its 2 outputs are not a multiple of 128"
        ),
        "{error}"
    );
}

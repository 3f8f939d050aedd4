//! Errors of specs: position, message, and the nearest valid word.

use crate::project::{BERT, OPERATORS, Project};

/// The errors of `testgen generate` for a spec, which must be invalid.
fn errors(text: &str) -> String {
    let project = Project::empty();
    project.write("model_specs/bert.yaml", text);
    project.run(&["generate"]).expect_code(2).stderr
}

#[track_caller]
fn assert_says(text: &str, expected: &str) {
    let said = errors(text);
    assert!(said.contains(expected), "`{expected}` is not in\n{said}");
}

#[test]
fn every_error_of_every_spec_is_shown() {
    let project = Project::empty();
    project.write(
        "model_specs/encoder_only/bert.yaml",
        "name: bret\nmodel_type: brt\narchitecture: encoder_only\ntask: text_embeding\nchekpoint:\n  fixture: bert\n\
         devices: [cpu, cud, cpu]\nprecisions: []\n",
    );
    project.write(
        "model_specs/vision/vit.yaml",
        BERT.replace("name: bert", "name: vit")
            .replace("[cpu, cuda, rocm]", "cpu"),
    );
    project.write("model_specs/vision/syntax.yaml", "name: x\n  task: [1,\n");
    insta::assert_snapshot!(project.run(&["generate"]).expect_code(2).stderr);
}

#[test]
fn nested_keys_have_their_path() {
    let nested = "checks:\n  skip:\n    - { check: finite, dvice: rocm }\n    - { check: causal_leak, reason: \"no cache\" }\n\
                  tolerance:\n  - { output: logits, precision: f16, rel_l2: 2, max_rel: a, reason: 5 }\n\
                  memory: { vram_mib: -3 }\nlimits: { seconds: 0 }\n";
    insta::assert_snapshot!(errors(&(BERT.replace(", f16", "") + nested)));
}

#[test]
fn a_scheme_is_known_and_divides_the_layers_of_synthetic_weights() {
    let synthetic = "synthetic: { config: bert.json, seed: 7 }";
    for (key, expected) in [
        (
            "quantise: gptq-5-128",
            "unknown scheme `gptq-5-128` in `checkpoint.quantise`",
        ),
        (
            "quantise: gptq-5-128",
            "known are `gptq-3-128`, `gptq-4-128`, `gptq-8-128`, `awq-4-128`, `fp8-tensor`",
        ),
        ("quantise: 4", "`checkpoint.quantise` must be text"),
        ("quantize: gptq-4-128", "did you mean `quantise`?"),
    ] {
        let keys = format!("{synthetic}\n  {key}");
        assert_says(&BERT.replace("fixture: bert", &keys), expected);
    }
    assert_says(
        &BERT.replace("fixture: bert", "fixture: bert\n  quantise: bnb-nf4"),
        "`checkpoint.quantise` is of `synthetic` weights only",
    );
    let llama = |scheme: &str, inner: u64| {
        let config = format!(
            "architectures: [LlamaForCausalLM], model_type: llama, hidden_size: 256, intermediate_size: {inner}, \
             num_attention_heads: 4, num_key_value_heads: 1"
        );
        BERT.replace("model_type: bert", "model_type: llama")
            .replace("encoder_only", "decoder_only")
            .replace("text_embedding", "text_generation")
            .replace(
                "fixture: bert",
                &format!("synthetic: {{ config: {{ {config} }}, seed: 7 }}\n  quantise: {scheme}"),
            )
    };
    assert_says(
        &llama("gptq-4-128", 96),
        "`gptq-4-128` cannot quantize `down_proj`: its 96 inputs are not a multiple of 128",
    );
    assert_says(
        &llama("fp8-block-128", 256),
        "`fp8-block-128` cannot quantize `k_proj`: its 64 outputs are not a multiple of 128",
    );
}

#[test]
fn a_missing_key_has_the_help_for_that_key() {
    let missing = |entry: &str| errors(&format!("{BERT}checks: {{ skip: [{entry}] }}\n"));
    let check = missing("{ reason: no cache }");
    assert!(
        check.contains("missing key `checks.skip[0].check`")
            && check.contains("docs/reference/spec.md says what each can be"),
        "{check}"
    );
    let reason = missing("{ check: finite }");
    assert!(reason.contains("say why in a few words"), "{reason}");
}

#[test]
fn every_key_of_an_entry_is_read() {
    let entry = "{ check: fnite, owner: me, expires: soon, reason: 5 }";
    let found = errors(&format!("{BERT}checks: {{ xfail: [{entry}] }}\n"));
    for expected in ["`fnite`", "`soon` is not a date", "must be text"] {
        assert!(found.contains(expected), "`{expected}` is not in\n{found}");
    }
}

#[test]
fn rules_between_keys_hold() {
    assert_says(
        &BERT.replace("model_type: bert", "model_type: gpt2"),
        "has the architecture `decoder_only`, not `encoder_only`",
    );
    assert_says(
        &BERT.replace("text_embedding", "text_generation"),
        "architecture `encoder_only` has no task `text_generation`",
    );
    assert_says(
        &BERT.replace("  fixture: bert\n", "  hub: a/b\n"),
        "exactly one of `fixture`, `path` and `synthetic`, found none",
    );
    assert_says(
        &BERT.replace("fixture: bert", "fixture: bert\n  path: x"),
        "found several",
    );
    let synthetic = |source: &str| BERT.replace("fixture: bert", &format!("synthetic: {source}"));
    for (source, expected) in [
        (
            "{ config: { model_type: bert }, seed: 7 }",
            "missing key `checkpoint.synthetic.config.architectures`",
        ),
        (
            "{ config: { architectures: [GPT2Model], model_type: gpt2 }, seed: 7 }",
            "`checkpoint.synthetic.config.model_type` is not `bert`, the spec's type",
        ),
        (
            "{ config: { _class_name: AutoencoderKL }, seed: 7 }",
            "`checkpoint.synthetic.config._class_name` is not `bert`, the spec's type",
        ),
        (
            "{ config: [bert], seed: 7 }",
            "`checkpoint.synthetic.config` must be text, found a list",
        ),
        (
            "{ config: bert.json, seed: -7 }",
            "`checkpoint.synthetic.seed` must be a whole number of at least 0",
        ),
        (
            "{ config: bert.json }",
            "missing key `checkpoint.synthetic.seed`",
        ),
    ] {
        assert_says(&synthetic(source), expected);
    }
    assert_says(
        &BERT.replace("fixture: bert", "fixture: bert\n  hub: a/b/c"),
        "is not a model of the Hub",
    );
    assert_says(
        &BERT.replace("[f32, f16, bf16]", "[f32, f32]"),
        "`f32` is listed twice in `precisions`",
    );
    assert_says(
        &BERT
            .replace("[cpu, cuda, rocm]", "[cpu, rocm]")
            .replace("[f32,", "[f32, tf32,"),
        "no device of this spec computes in `tf32`",
    );
    assert_says(
        &BERT.replace("[f32, f16, bf16]", "[tf32]"),
        "`cpu` computes in no precision of this spec",
    );
    assert_says(&BERT.replace("name: bert", "name: 7"), "put it in quotes");
    assert_says(
        &BERT.replace("name: bert", "name:"),
        "`name` must be text, found nothing",
    );
    let skip = |entry: &str| format!("{BERT}checks: {{ skip: [{entry}] }}\n");
    assert_says(
        &skip("{ check: finite }"),
        "missing key `checks.skip[0].reason`",
    );
    assert_says(
        &skip("{ check: finite, reason: \" \" }"),
        "`checks.skip[0].reason` is empty",
    );
    assert_says(
        &skip("{ check: finite, reason: a }, { check: finite, reason: b }"),
        "a second time",
    );
    assert_says(
        &skip("{ check: fallback_marked, device: cpu, reason: a }"),
        "matches no check of this spec",
    );
    let tolerance = "{ output: a, precision: f16, rel_l2: 0.1, max_rel: 0.1, reason: r }";
    assert_says(
        &format!("{BERT}tolerance: [{tolerance}, {tolerance}]\n"),
        "second tolerance for this output",
    );
}

#[test]
fn an_expected_failure_of_a_spec_is_of_a_check_of_the_native_engine() {
    // It exists in columns of engines only.
    assert_says(
        &xfail("check: attention_paths"),
        "matches no check of this spec",
    );
}

#[test]
fn every_wrong_key_of_an_entry_is_reported() {
    let entry = xfail("check: finite, device: gpu, precision: f8");
    assert_says(&entry, "`gpu`");
    assert_says(&entry, "`f8`");
}

fn xfail(entry: &str) -> String {
    let rest = "owner: o, expires: 2030-01-01, reason: r";
    format!("{BERT}checks: {{ xfail: [{{ {entry}, {rest} }}] }}\n")
}

#[test]
fn names_are_unique_over_all_directories() {
    let project = Project::with_bert();
    project.write("model_specs/other/bert.yaml", BERT);
    project.write(
        "model_specs/other/BERT.yaml",
        BERT.replace("name: bert", "name: BERT"),
    );
    insta::assert_snapshot!(project.run(&["generate"]).expect_code(2).stderr);
}

#[test]
fn errors_of_files_that_are_not_specs_differ() {
    let project = Project::with_bert();
    project.write("model_specs/notes.md", "no spec");
    project.run(&["generate"]).expect_code(0);
    project.write("model_specs/other.yml", BERT);
    let outcome = project.run(&["generate"]).expect_code(2);
    assert!(
        outcome.stderr.contains("a spec's name ends in `.yaml`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn operators_have_shapes_and_no_checkpoint() {
    let said = |text: &str, expected: &str| {
        let project = Project::empty();
        project.write("model_specs/sums.yaml", text);
        let said = project.run(&["generate"]).expect_code(2).stderr;
        assert!(said.contains(expected), "`{expected}` is not in\n{said}");
    };
    said(
        &OPERATORS.replace("[3, 7, 5]", "[3, 7]"),
        "`operators.matmul[0]` has 2 sizes, `matmul` has 3",
    );
    said(
        &OPERATORS.replace("[3, 7, 5]", "[3, 7]"),
        "a shape of `matmul` is a list of `rows`, `inner`, `columns`",
    );
    said(
        &OPERATORS.replace("[3, 7, 5]", "[3, 0, 5]"),
        "`operators.matmul[0][1]` must be a whole number above 0",
    );
    said(
        &OPERATORS.replace("add: [[3, 5]]", "add: []"),
        "`operators.add` has no shape",
    );
    said(
        &OPERATORS.replace("add:", "ad:"),
        "unknown key `operators.ad`",
    );
    said(
        &OPERATORS
            .replace("add:", "comparison:")
            .replace("[3, 5]", "[3]"),
        "`operators.comparison[0]` has 1 sizes, `eq` has 2",
    );
    said(
        &format!("{OPERATORS}checkpoint: {{ fixture: bert }}\n"),
        "unknown key `checkpoint`",
    );
    said(
        &OPERATORS.replace(
            "operators:\n  add: [[3, 5]]\n  matmul: [[3, 7, 5], [64, 64, 64]]\n",
            "operators: {}\n",
        ),
        "`operators` is empty",
    );
    assert_says(
        &format!("{BERT}operators: {{ add: [[1, 1]] }}\n"),
        "unknown key `operators`",
    );
}

#[test]
fn stress_has_shapes_of_the_operators_by_issue() {
    let said = |stress: &str, expected: &str| {
        let project = Project::empty();
        project.write(
            "model_specs/sums.yaml",
            format!("{OPERATORS}stress: {stress}\n"),
        );
        let said = project.run(&["generate"]).expect_code(2).stderr;
        assert!(said.contains(expected), "`{expected}` is not in\n{said}");
    };
    said(
        "{ sub: { sizes: [[3, 5]] } }",
        "`stress.sub` is not among `operators`",
    );
    said(
        "{ add: [[3, 5]] }",
        "`stress.add` must be a mapping, found a list",
    );
    said("{ add: {} }", "`stress.add` is empty");
    said("{ add: { sizes: [] } }", "`stress.add.sizes` has no shape");
    said(
        "{ add: { \"ROCm#6116\": [[3]] } }",
        "`stress.add.ROCm#6116[0]` has 1 sizes, `add` has 2",
    );
    said(
        "{ add: { \"a/b\": [[3, 5]] } }",
        "in `stress.add` is not an issue",
    );
    said("{ ad: { sizes: [[3, 5]] } }", "unknown key `stress.ad`");
    assert_says(
        &format!("{BERT}stress: {{ add: {{ sizes: [[1, 1]] }} }}\n"),
        "unknown key `stress`",
    );
}

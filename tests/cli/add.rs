//! `testgen add`: specs from checkpoints, never a guess.

mod model_type;

use crate::project::Project;

const CONFIG: &str =
    r#"{ "model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 32 }"#;

/// A project with one checkpoint, `fixtures/tiny`.
fn with_checkpoint(config: &str) -> Project {
    let project = Project::empty();
    project.write("fixtures/tiny/config.json", config);
    project
}

#[test]
fn a_fixture_becomes_a_spec_that_generates() {
    let project = with_checkpoint(CONFIG);
    for name in ["golden.safetensors", "model.safetensors", "tokenizer.json"] {
        project.write(format!("fixtures/tiny/{name}"), "");
    }
    project.write("docs/spec.schema.json", "{}");
    let outcome = project.run(&["add", "fixtures/tiny"]).expect_code(0);
    insta::assert_snapshot!(format!(
        "{}---\n{}",
        outcome.stdout,
        project.read("model_specs/encoder_only/tiny.yaml")
    ));
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn missing_files_of_a_checkpoint_are_reported() {
    let project = with_checkpoint(CONFIG);
    let outcome = project.run(&["add", "fixtures/tiny"]).expect_code(0);
    insta::assert_snapshot!(format!(
        "{}---\n{}",
        outcome.stdout,
        project.read("model_specs/encoder_only/tiny.yaml")
    ));
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn suggested_commands_repeat_the_specs_directory() {
    let project = with_checkpoint(CONFIG);
    let outcome = project
        .run(&["add", "fixtures/tiny", "--specs", "my specs"])
        .expect_code(0);
    for command in [
        "`testgen record tiny --specs 'my specs'`",
        "next: `testgen generate --specs 'my specs'`\n",
    ] {
        assert!(outcome.stdout.contains(command), "{}", outcome.stdout);
    }
    project
        .run(&["generate", "--specs", "my specs"])
        .expect_code(0);
}

#[test]
fn a_comment_is_written_at_the_start_of_the_spec() {
    let project = with_checkpoint(CONFIG);
    project
        .run(&[
            "add",
            "fixtures/tiny",
            "--comment",
            "Five heads of width 6.\n\nname: not a field",
        ])
        .expect_code(0);
    let text = project.read("model_specs/encoder_only/tiny.yaml");
    assert!(
        text.starts_with("# Five heads of width 6.\n#\n# name: not a field\nname: tiny\n"),
        "{text}"
    );
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn numbers_that_are_not_finite_are_read_as_python_writes_them() {
    let config = r#"{ "model_type": "mamba2", "architectures": ["Mamba2Model"], "time_step_limit": [0.0, Infinity] }"#;
    with_checkpoint(config)
        .run(&["add", "fixtures/tiny"])
        .expect_code(0);
}

#[test]
fn a_checkpoint_elsewhere_is_named_from_the_spec_or_absolutely() {
    let project = Project::empty();
    project.write("somewhere/my model/config.json", CONFIG);
    project
        .run(&[
            "add",
            "somewhere/my model",
            "--name",
            "mine",
            "--specs",
            "specs",
        ])
        .expect_code(0);
    let text = project.read("specs/encoder_only/mine.yaml");
    assert!(
        text.contains("path: \"../../somewhere/my model\"\n"),
        "{text}"
    );
    project
        .run(&["generate", "--specs", "specs", "--out", "deep/suite"])
        .expect_code(0);
    let harness = project.read("deep/suite/src/encoder_only/mine.rs");
    assert!(
        harness.contains("path: \"../../somewhere/my model\","),
        "{harness}"
    );

    let absolute = project.path("somewhere/my model").display().to_string();
    project
        .run(&["add", &absolute, "--name", "absolute", "--specs", "specs"])
        .expect_code(0);
    assert!(
        project
            .read("specs/encoder_only/absolute.yaml")
            .contains(&format!("path: \"{absolute}\""))
    );
}

#[test]
fn an_unknown_type_is_an_error_and_never_a_guess() {
    let said = |config: &str| {
        with_checkpoint(config)
            .run(&["add", "fixtures/tiny"])
            .expect_code(2)
            .stderr
    };
    let all = [
        said(r#"{ "model_type": "llamas", "architectures": ["LlamasModel"] }"#),
        said(r#"{ "model_type": "zzz\u001b[31m" }"#),
        said(
            r#"{ "model_type": "own_moe", "architectures": ["OwnMoeForCausalLM"], "num_local_experts": 16 }"#,
        ),
        said(r#"{ "architectures": ["BertModel"] }"#),
        said(r#"{ "model_type": "bert" }"#),
        said(r#"{ "model_type": "bert", "architectures": ["BertForPreTraining"] }"#),
        said("{ \"model_type\": \"bert\",\n  \"architectures\": [ }"),
        said("[]"),
        said(r#"{ "model_type": 5 }"#),
        said(""),
    ];
    insta::assert_snapshot!(all.join("---\n"));
}

#[test]
fn a_class_of_diffusers_is_added_or_refused_with_the_argument() {
    let project = with_checkpoint(
        r#"{ "_class_name": "SD3Transformer2DModel", "_diffusers_version": "0.42.1" }"#,
    );
    project.run(&["add", "fixtures/tiny"]).expect_code(0);
    let spec = project.read("model_specs/diffusion/tiny.yaml");
    assert!(spec.contains("model_type: SD3Transformer2DModel"), "{spec}");
    assert!(spec.contains("task: image_denoising"), "{spec}");
    let refused = with_checkpoint(
        r#"{ "_class_name": "ZImageTransformer2DModel", "_diffusers_version": "0.42.1" }"#,
    )
    .run(&["add", "fixtures/tiny"])
    .expect_code(2)
    .stderr;
    assert!(
        refused.contains("`ZImageTransformer2DModel` of diffusers cannot be tested: its argument `x` is not a tensor"),
        "{refused}"
    );
}

#[test]
fn a_directory_that_is_not_a_checkpoint_is_an_error() {
    let project = Project::empty();
    project.write("empty/file", "");
    let missing = project
        .run(&["add", "nowhere/at/all"])
        .expect_code(2)
        .stderr;
    let hub = project
        .run(&["add", "google-bert/bert-base-uncased"])
        .expect_code(2)
        .stderr;
    let empty = project.run(&["add", "empty"]).expect_code(2).stderr;
    insta::assert_snapshot!([missing, hub, empty].join("---\n"));
    assert!(!project.exists("model_specs"));
}

#[test]
fn an_existing_spec_is_kept_without_force() {
    let project = with_checkpoint(CONFIG);
    project.run(&["add", "fixtures/tiny"]).expect_code(0);
    project.write("model_specs/encoder_only/tiny.yaml", "# mine\n");
    let outcome = project.run(&["add", "fixtures/tiny"]).expect_code(2);
    insta::assert_snapshot!(outcome.stderr);
    assert_eq!(
        project.read("model_specs/encoder_only/tiny.yaml"),
        "# mine\n"
    );
    project
        .run(&["add", "fixtures/tiny", "--force"])
        .expect_code(0);
    assert!(
        project
            .read("model_specs/encoder_only/tiny.yaml")
            .contains("name: tiny")
    );
}

#[test]
fn a_name_is_checked_and_unique() {
    let project = with_checkpoint(CONFIG);
    project
        .run(&["add", "fixtures/tiny", "--name", "../evil"])
        .expect_code(2);
    project
        .run(&["add", "fixtures/tiny", "--name", "7"])
        .expect_code(0);
    assert!(
        project
            .read("model_specs/encoder_only/7.yaml")
            .contains("name: \"7\"\n")
    );
    project
        .run(&["add", "fixtures/tiny", "--name", "a-b"])
        .expect_code(0);
    let outcome = project
        .run(&["add", "fixtures/tiny", "--name", "a_b", "--force"])
        .expect_code(2);
    assert!(outcome.stderr.contains("a-b.yaml"), "{}", outcome.stderr);
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn help_shows_examples_and_every_flag() {
    insta::assert_snapshot!(
        Project::empty()
            .run(&["add", "--help"])
            .expect_code(0)
            .stdout
    );
}

#[test]
fn quantized_weights_are_refused_by_their_method() {
    let config = r#"{ "model_type": "llama", "architectures": ["LlamaForCausalLM"], "quantization_config": OPTIONS }"#;
    for (options, method) in [
        (r#"{ "quant_method": "hqq", "bits": 4 }"#, "HQQ (4 bits)"),
        (
            r#"{ "quant_method": "modelopt", "quant_algo": "NVFP4" }"#,
            "ModelOpt (NVFP4)",
        ),
        (
            r#"{ "quant_method": "quanto", "weights": "int8" }"#,
            "Quanto (int8)",
        ),
    ] {
        let project = with_checkpoint(&config.replace("OPTIONS", options));
        let refused = project.run(&["add", "fixtures/tiny"]).expect_code(2);
        let expected =
            format!("the weights are quantized with {method}, according to `quantization_config`");
        assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
        assert!(
            refused
                .stderr
                .contains("help: use the checkpoint that it was quantized from"),
            "{}",
            refused.stderr
        );
        assert!(!project.exists("model_specs"), "a spec was written");
    }
}

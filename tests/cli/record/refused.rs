//! Directories that are refused before Python starts.

use super::{record, with_checkpoint};
use crate::project::Project;
use std::fs;

#[test]
fn a_directory_without_configuration_is_bad_input() {
    let project = Project::with_bert();
    project.write("fixtures/bert/model.safetensors", "");
    let outcome = record(&project, "exit 0", &["fixtures/bert"]).expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("`fixtures/bert` is not a checkpoint directory: it has no config.json"),
        "{}",
        outcome.stderr
    );
    assert!(!project.exists("seen"), "Python must not start");
}

#[test]
fn quantized_weights_are_refused_before_python_starts() {
    let project = with_checkpoint();
    project.write(
        "fixtures/bert/config.json",
        r#"{ "quantization_config": { "quant_method": "hqq", "bits": 4 } }"#,
    );
    let refused = record(&project, "exit 0", &["bert"]).expect_code(2);
    assert!(
        refused
            .stderr
            .contains("the weights are quantized with HQQ (4 bits)"),
        "{}",
        refused.stderr
    );
    assert!(!project.exists("seen"), "Python was started");
}

#[test]
fn pickles_are_refused_before_python_starts() {
    let project = with_checkpoint();
    project.write("fixtures/bert/pytorch_model.bin", "");
    for arguments in [
        &["record", "bert"] as &[&str],
        &["add", "fixtures/bert", "--specs", "specs"],
    ] {
        let refused = project.run(arguments).expect_code(2);
        assert!(
            refused
                .stderr
                .contains("pytorch_model.bin` is a pickle, which can run any program"),
            "{}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("help: write safetensors with"),
            "{}",
            refused.stderr
        );
    }
    assert!(!project.exists("specs") && !project.exists("seen"));
}

#[test]
fn links_and_shards_outside_the_directory_are_refused() {
    let project = with_checkpoint();
    project.write("fixtures/secret.safetensors", "");
    let index = "fixtures/bert/model.safetensors.index.json";
    project.write(index, r#"{"weight_map": {"a": "../secret.safetensors"}}"#);
    let shard = record(&project, "exit 0", &["bert"]).expect_code(2);
    assert!(
        shard
            .stderr
            .contains("names the shard `../secret.safetensors`"),
        "{}",
        shard.stderr
    );
    fs::remove_file(project.path(index)).expect("it is there");
    let link = project.path("fixtures/bert/model.safetensors");
    std::os::unix::fs::symlink("../secret.safetensors", link).expect("links can be made");
    let link = record(&project, "exit 0", &["bert"]).expect_code(2);
    assert!(
        link.stderr
            .contains("leads out of the checkpoint's directory"),
        "{}",
        link.stderr
    );
    assert!(!project.exists("seen"), "Python must not start");
}

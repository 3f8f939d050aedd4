//! Checkpoint directories with pickles, and with names and links that lead out of them.

use super::*;
use crate::cli_error::CliError;
use std::os::unix::fs::symlink;

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("the temporary directory can be written");
    for (name, text) in files {
        let path = directory
            .path()
            .join("repository/snapshots/revision")
            .join(name);
        fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }
    directory
}

fn checked(directory: &tempfile::TempDir) -> String {
    let checked = check(&directory.path().join("repository/snapshots/revision"));
    checked.map_or_else(|error| error.to_string(), |()| "safe".to_owned())
}

#[test]
fn weights_that_only_transformers_reads_are_refused() {
    let weights = ("model.safetensors", "");
    let other = r#"{"transformers_weights": "adapter_model.bin"}"#;
    let message = checked(&directory(&[("config.json", other), weights]));
    assert!(
        message.ends_with("names other weights in `transformers_weights`: `adapter_model.bin`"),
        "{message}"
    );
    let adapter = [
        ("config.json", "{}"),
        ("adapter_config.json", "{}"),
        weights,
    ];
    let message = checked(&directory(&adapter));
    assert!(message.contains("describes an adapter"), "{message}");
    assert_eq!(
        checked(&directory(&[("config.json", "{}"), weights])),
        "safe"
    );
}

#[test]
fn weights_must_be_safetensors() {
    for name in [
        "pytorch_model.bin",
        "model.pt",
        "model.pth",
        "weights.ckpt",
        "model.pkl",
    ] {
        let message = checked(&directory(&[("config.json", ""), (name, "")]));
        assert!(
            message.contains(name) && message.contains("is a pickle"),
            "{message}"
        );
        assert_eq!(
            checked(&directory(&[("model.safetensors", ""), (name, "")])),
            "safe",
            "it is not read"
        );
    }
    for name in [
        "training_args.bin",
        "optimizer.pt",
        "rng_state_0.pth",
        "vocab.txt",
        "bin",
    ] {
        assert_eq!(
            checked(&directory(&[("config.json", ""), (name, "")])),
            "safe",
            "{name}"
        );
    }
    let sharded = [
        (
            "diffusion_pytorch_model.safetensors.index.json",
            r#"{"weight_map": {}}"#,
        ),
        ("model.bin", ""),
    ];
    assert_eq!(checked(&directory(&sharded)), "safe");
}

#[test]
fn shards_are_safetensors_in_the_directory() {
    let index = |shard: &str| {
        let text = format!(
            r#"{{"metadata": {{}}, "weight_map": {{"a": "a.safetensors", "b": "{shard}"}}}}"#
        );
        checked(&directory(&[("model.safetensors.index.json", &text)]))
    };
    assert_eq!(index("model-00001-of-00002.safetensors"), "safe");
    for outside in [
        "../b.safetensors",
        "/etc/b.safetensors",
        "a/../../b.safetensors",
        "./../b.safetensors",
    ] {
        assert!(
            index(outside).contains("is not in the checkpoint's directory"),
            "{}",
            index(outside)
        );
    }
    assert!(
        index("pytorch_model.bin").contains("which is not safetensors"),
        "{}",
        index("pytorch_model.bin")
    );
    for garbled in ["", "[]", "{}", r#"{"weight_map": 1}"#] {
        let message = checked(&directory(&[("model.safetensors.index.json", garbled)]));
        assert!(message.contains("is not an index of shards"), "{message}");
    }
}

#[test]
fn links_stay_in_the_directory_or_in_the_store_of_the_cache() {
    let link = |target: &str, name: &str| {
        let directory = directory(&[
            ("config.json", ""),
            ("model.safetensors", ""),
            ("part/x.json", ""),
        ]);
        let repository = directory.path().join("repository");
        fs::create_dir(repository.join("blobs")).expect("can be made");
        fs::write(repository.join("blobs/0a"), "").expect("can be written");
        fs::write(repository.join("other"), "").expect("can be written");
        symlink(target, repository.join("snapshots/revision").join(name))
            .expect("links can be made");
        checked(&directory)
    };
    assert_eq!(link("config.json", "a.json"), "safe");
    assert_eq!(link("../../blobs/0a", "a.json"), "safe");
    assert_eq!(link("../config.json", "part/a.json"), "safe");
    for (target, name) in [
        ("../../other", "a.json"),
        ("/etc/passwd", "a.json"),
        ("../../../other", "part/a.json"),
        ("/etc", "a"),
    ] {
        let message = link(target, name);
        assert!(
            message.contains(&format!("{name}` leads out of the checkpoint's directory")),
            "{message}"
        );
    }
    assert!(link("nowhere", "a.json").contains("does not exist"));
}

#[test]
fn quantized_weights_are_refused_by_their_method() {
    let config = r#"{ "quantization_config": { "quant_method": "hqq", "bits": 4 } }"#;
    let files = directory(&[("config.json", config), ("model.safetensors", "")]);
    let error =
        check(&files.path().join("repository/snapshots/revision")).expect_err("it is quantized");
    let text = error.to_string();
    assert!(
        text.contains("snapshots/revision`: the weights are quantized with HQQ (4 bits)"),
        "{text}"
    );
    let help = error.help().expect("there is something to do");
    assert!(
        help.starts_with("use the checkpoint that it was quantized from"),
        "{help}"
    );
}

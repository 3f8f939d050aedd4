//! The files that have the tensors of a checkpoint: a single file, or the files that an index
//! names.

use super::error::WeightsError;
use serde_json::{Map, Value};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};
use testgen_types::{
    bounded_file::{limit, read_bytes},
    excerpt,
};

/// The file names in transformers and diffusers.
const SINGLE: [&str; 2] = ["model.safetensors", "diffusion_pytorch_model.safetensors"];

/// The files of a checkpoint.
pub(super) enum CheckpointLayout {
    /// All tensors.
    Single(PathBuf),
    /// Shards.
    Sharded(SafetensorsIndex),
}

/// The index of a sharded checkpoint.
pub(super) struct SafetensorsIndex {
    path: PathBuf,
    /// The file of each tensor.
    weight_map: Map<String, Value>,
}

impl CheckpointLayout {
    pub(super) fn read(directory: &Path) -> Result<Self, WeightsError> {
        // Before an index, as `from_pretrained` looks for them.
        if let Some(path) = SINGLE
            .iter()
            .map(|name| directory.join(name))
            .find(|path| is_occupied(path))
        {
            return Ok(Self::Single(path));
        }
        let index = SINGLE
            .iter()
            .map(|name| directory.join(format!("{name}.index.json")))
            .find(|path| is_occupied(path));
        let index = index.ok_or_else(|| WeightsError::NoFile {
            directory: directory.to_owned(),
        })?;
        SafetensorsIndex::read(index).map(Self::Sharded)
    }
}

fn is_occupied(path: &Path) -> bool {
    // Also a directory or a link without a target: opening it reports what it is.
    fs::symlink_metadata(path).is_ok()
}

impl SafetensorsIndex {
    fn read(path: PathBuf) -> Result<Self, WeightsError> {
        let text = read_bytes(&path, limit::SHARD_INDEX).map_err(WeightsError::of_file)?;
        let value: Result<Value, _> = serde_json::from_slice(&text);
        let mut value =
            value.map_err(|error| unreadable(excerpt(&error.to_string()).into_owned(), &path))?;
        let weight_map = match value.get_mut("weight_map").map(Value::take) {
            Some(Value::Object(map)) if map.is_empty() => {
                Err("its `weight_map` is empty; it should have the file of every tensor".to_owned())
            }
            Some(Value::Object(map)) => map
                .iter()
                .try_for_each(|(tensor, file)| check_file(tensor, file))
                .map(|()| map),
            _ => Err("it has no `weight_map`".to_owned()),
        };
        let weight_map = weight_map.map_err(|message| unreadable(message, &path))?;
        Ok(Self { path, weight_map })
    }

    /// Every file once.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let names: BTreeSet<&str> = self.weight_map.values().filter_map(Value::as_str).collect();
        names
            .into_iter()
            .map(|name| self.path.with_file_name(name))
            .collect()
    }

    /// Whether each of its tensors exists.
    pub(super) fn check(&self, exists: impl Fn(&str) -> bool) -> Result<(), WeightsError> {
        let Some((tensor, file)) = self.weight_map.iter().find(|(tensor, _)| !exists(tensor))
        else {
            return Ok(());
        };
        let message = format!(
            "it names the tensor `{}`, which {} does not have",
            excerpt(tensor),
            excerpt(&file.to_string())
        );
        Err(WeightsError::Unreadable {
            path: self.path.clone(),
            message,
        })
    }
}

/// The longest name of a shard, in bytes.
// The limit of Linux's file systems.
const LONGEST_NAME: usize = 255;

fn check_file(tensor: &str, file: &Value) -> Result<(), String> {
    // A checkpoint is one directory: an index cannot name files elsewhere.
    if file.as_str().is_some_and(|name| {
        Path::new(name).file_name().is_some_and(|file| file == name) && is_printable(name)
    }) {
        return Ok(());
    }
    let (tensor, file) = (excerpt(tensor), file.to_string());
    Err(format!(
        "{} of tensor `{tensor}` is not the name of a file beside the index",
        excerpt(&file)
    ))
}

fn unreadable(message: String, path: &Path) -> WeightsError {
    WeightsError::Unreadable {
        path: path.to_owned(),
        message,
    }
}

fn is_printable(name: &str) -> bool {
    // Messages have the path of a file; no file system has longer names.
    name.len() <= LONGEST_NAME && !name.contains(char::is_control)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::file::Files;
    use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

    /// The error of a checkpoint directory that `make` fills.
    #[track_caller]
    fn error(make: impl FnOnce(&Path)) -> String {
        let directory = tempfile::tempdir().unwrap();
        make(directory.path());
        Files::open(directory.path()).err().unwrap().to_string()
    }

    #[test]
    fn other_things_in_place_of_the_weights_are_named() {
        let name = "model.safetensors";
        let directory = error(|path| fs::create_dir(path.join(name)).unwrap());
        assert!(
            directory.contains("model.safetensors`: it is a directory"),
            "{directory}"
        );
        let fifo = error(|path| {
            assert!(
                Command::new("mkfifo")
                    .arg(path.join(name))
                    .status()
                    .unwrap()
                    .success()
            )
        });
        assert!(fifo.contains("model.safetensors`: it is a FIFO"), "{fifo}");
        let link = error(|path| symlink("../blobs/1", path.join(name)).unwrap());
        assert!(
            link.contains("model.safetensors`: it is a link to `../blobs/1`, which does not exist"),
            "{link}"
        );
        let index =
            error(|path| symlink("/dev/zero", path.join("model.safetensors.index.json")).unwrap());
        assert!(
            index.contains("model.safetensors.index.json`: it is a device"),
            "{index}"
        );
        assert!(error(|_| ()).contains("has neither model.safetensors nor"));
    }

    #[test]
    fn an_index_names_files_and_tensors_that_exist() {
        let message = |index: &str| {
            error(|path| {
                let header = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
                let file = [&(header.len() as u64).to_le_bytes(), &header[..], &[0; 4]].concat();
                fs::write(path.join("one.safetensors"), file).unwrap();
                fs::write(path.join("model.safetensors.index.json"), index).unwrap();
            })
        };
        let long = "x".repeat(1_000_000);
        for (index, expected) in [
            (r#"{"weight_map": {}}"#, "its `weight_map` is empty"),
            (r#"{"weight_map": []}"#, "it has no `weight_map`"),
            (r#"{}"#, "it has no `weight_map`"),
            (
                r#"{"weight_map": {"a": 1}}"#,
                "1 of tensor `a` is not the name of a file",
            ),
            (
                r#"{"weight_map": {"a": "../one.safetensors"}}"#,
                "\"../one.safetensors\" of tensor `a` is not the name",
            ),
            (
                r#"{"weight_map": {"a": "\u001b[2J"}}"#,
                "[2J\" of tensor `a` is not the name",
            ),
            (
                &format!(r#"{{"weight_map": {{"a": "{}"}}}}"#, "x".repeat(256)),
                "of tensor `a` is not the name of a file",
            ),
            (
                r#"{"weight_map": {"a": "two.safetensors"}}"#,
                "two.safetensors`: it does not exist",
            ),
            (
                r#"{"weight_map": {"a": "one.safetensors", "b": "one.safetensors"}}"#,
                "it names the tensor `b`, which",
            ),
            (
                &format!(r#"{{"weight_map": {{"{long}": "{long}/"}}}}"#),
                "/\" of tensor `xx",
            ),
        ] {
            let message = message(index);
            assert!(message.contains(expected), "{message}");
            assert!(message.len() < 1000, "{} bytes", message.len());
        }
    }
}

//! Copies of fixtures whose configuration, weights or golden are changed.

// Two test binaries have this file, one by its path, from which a module would be searched beside
// it.
#[path = "fixture/tensors.rs"]
mod tensors;

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};
pub(crate) use tensors::Tensors;
use testgen_runtime::{Harness, suite};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, Registration, ReportEntry};

const WEIGHTS: &str = "model.safetensors";

/// A copy of a fixture, deleted when dropped.
pub(crate) struct Fixture {
    base: tempfile::TempDir,
    harness: &'static Harness,
}

/// The fixtures of the repository.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The directory of a synthetic checkpoint, beside its spec.
fn recorded(harness: &Harness) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let below = Path::new(harness.spec.architecture.as_str()).join(harness.spec.name);
    let folders = ["model_specs", "fixtures/deep"];
    let mut found = folders
        .map(|folder| root.join(folder).join(&below))
        .into_iter();
    found.find(|path| path.exists()).unwrap()
}

impl Fixture {
    /// A copy of the fixture that the harness names. A synthetic checkpoint gets its weights as a
    /// file.
    pub(crate) fn new(harness: &'static Harness) -> Self {
        let base = tempfile::tempdir().unwrap();
        let copy = base.path().join(harness.spec.name);
        let stored = fixtures().join(harness.spec.name);
        if stored.exists() {
            copy_folder(&stored, &copy);
        } else {
            // The place of made weights is kept by directory: made for the copy, they would be read
            // in the place of changed ones.
            let made = testgen_checkpoints::checkpoint(&recorded(harness)).unwrap();
            copy_folder(&recorded(harness), &copy);
            fs::copy(made.join(WEIGHTS), copy.join(WEIGHTS)).unwrap();
            fs::remove_file(copy.join(testgen_checkpoints::FILE)).unwrap();
        }
        Self { base, harness }
    }

    /// A copy of the synthetic checkpoint of the harness as its scheme stores it: one with quantized
    /// weights, as a user has.
    pub(crate) fn quantized(harness: &'static Harness) -> Self {
        let base = tempfile::tempdir().unwrap();
        let made = testgen_checkpoints::quantized(&recorded(harness)).unwrap();
        copy_folder(made.path(), &base.path().join(harness.spec.name));
        Self { base, harness }
    }

    /// The folder that contains the checkpoint's folder.
    pub(crate) fn base(&self) -> &Path {
        self.base.path()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.base.path().join(self.harness.spec.name).join(file)
    }

    /// Sets one field of `config.json`, given as a JSON pointer. The field must exist and have
    /// another value.
    pub(crate) fn configure(self, pointer: &str, value: Value) -> Self {
        self.set("config.json", pointer, value)
    }

    /// Sets one field of `preprocessor_config.json`.
    pub(crate) fn preprocess(self, pointer: &str, value: Value) -> Self {
        self.set("preprocessor_config.json", pointer, value)
    }

    /// Sets one field of `scheduler_config.json`.
    pub(crate) fn schedule(self, pointer: &str, value: Value) -> Self {
        self.set("scheduler_config.json", pointer, value)
    }

    /// Sets one field of `generation_config.json`.
    pub(crate) fn generate(self, pointer: &str, value: Value) -> Self {
        self.set("generation_config.json", pointer, value)
    }

    /// Exchanges the ids of two tokens of `tokenizer.json`.
    pub(crate) fn exchange_tokens(self, one: &str, other: &str) -> Self {
        let path = self.path("tokenizer.json");
        let mut tokenizer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        let id = vocabulary
            .insert(one.to_owned(), vocabulary[other].clone())
            .unwrap();
        vocabulary.insert(other.to_owned(), id).unwrap();
        fs::write(path, tokenizer.to_string()).unwrap();
        self
    }

    /// Deletes a file.
    pub(crate) fn without(self, file: &str) -> Self {
        fs::remove_file(self.path(file)).unwrap();
        self
    }

    fn set(self, file: &str, pointer: &str, value: Value) -> Self {
        let path = self.path(file);
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let field = config
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("no {pointer}"));
        assert_ne!(*field, value, "{pointer} has that value already");
        *field = value;
        fs::write(path, config.to_string()).unwrap();
        self
    }

    /// Changes the weights.
    pub(crate) fn weights(self, change: impl FnOnce(&mut Tensors)) -> Self {
        let files = [WEIGHTS, "diffusion_pytorch_model.safetensors"];
        let file = files
            .into_iter()
            .find(|file| self.path(file).exists())
            .unwrap();
        self.tensors(file, change)
    }

    /// Changes the bytes of one tensor of the weights, which keeps its type.
    pub(crate) fn bytes(self, name: &str, change: impl FnOnce(&mut [u8])) -> Self {
        let path = self.path(WEIGHTS);
        let mut bytes = fs::read(&path).unwrap();
        let (header, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
        let (start, end) = metadata.info(name).unwrap().data_offsets;
        let before = bytes.clone();
        change(&mut bytes[8 + header + start..8 + header + end]);
        assert!(before != bytes, "the fault changed nothing");
        fs::write(path, bytes).unwrap();
        self
    }

    /// Changes the golden.
    pub(crate) fn golden(self, change: impl FnOnce(&mut Tensors)) -> Self {
        self.tensors("golden.safetensors", change)
    }

    /// Copies the tokenizer of another fixture, with the texts and ids of its golden.
    pub(crate) fn with_texts_of(self, other: &str) -> Self {
        let other = fixtures().join(other);
        for file in ["tokenizer.json", "tokenizer_config.json"] {
            fs::copy(other.join(file), self.path(file)).unwrap();
        }
        let borrowed = Tensors::read(&other.join("golden.safetensors"));
        self.golden(|tensors| {
            tensors
                .metadata
                .insert("text".to_owned(), borrowed.metadata["text"].clone());
            let inputs = borrowed
                .named
                .into_iter()
                .filter(|(name, _)| name.starts_with("input."));
            tensors.named.extend(inputs);
        })
    }

    /// Changes the tensors of another file.
    pub(crate) fn tensors(self, file: &str, change: impl FnOnce(&mut Tensors)) -> Self {
        let path = self.path(file);
        let mut tensors = Tensors::read(&path);
        let before = (tensors.named.clone(), tensors.metadata.clone());
        change(&mut tensors);
        assert!(
            before != (tensors.named.clone(), tensors.metadata.clone()),
            "the fault changed nothing"
        );
        tensors.write(&path);
        self
    }

    /// The report entry of one check on the host processor in f32.
    pub(crate) fn check(&self, check: Check) -> ReportEntry {
        self.check_in(check, Precision::F32)
    }

    /// The report entry of one check on the host processor.
    pub(crate) fn check_in(&self, check: Check, precision: Precision) -> ReportEntry {
        suite::run_check(
            self.harness,
            Registration {
                device: DeviceKind::Cpu,
                check,
                precision,
            },
            self.base.path(),
        )
    }

    /// Asserts that a check fails, and that its reason contains all `parts`.
    pub(crate) fn turns_red(&self, check: Check, parts: &[&str]) {
        self.turns_red_in(check, Precision::F32, parts);
    }

    /// Like [`Fixture::turns_red`], in another precision.
    pub(crate) fn turns_red_in(&self, check: Check, precision: Precision, parts: &[&str]) {
        let record = self.check_in(check, precision);
        let reason = record.reason.clone().unwrap_or_default();
        assert_eq!(
            record.status,
            EntryStatus::Fail,
            "{check} in {precision} did not fail: {reason}"
        );
        for part in parts {
            assert!(
                reason.contains(part),
                "the reason of {check} does not contain `{part}`: {reason}"
            );
        }
    }

    /// Asserts that a check passes.
    pub(crate) fn stays_green(&self, check: Check) {
        let record = self.check(check);
        assert_eq!(
            record.status,
            EntryStatus::Pass,
            "{check}: {:?}",
            record.reason
        );
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (
            entry.as_ref().unwrap().path(),
            to.join(entry.unwrap().file_name()),
        );
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

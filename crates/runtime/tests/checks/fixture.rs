//! Copies of fixtures whose configuration, weights or golden are changed.

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};
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
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../model_specs");
    specs
        .join(harness.spec.architecture.as_str())
        .join(harness.spec.name)
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

/// Converts floats to f32 and integers to i64, the types that tests change; other types remain.
fn widened(dtype: Dtype, bytes: &[u8]) -> (Dtype, Vec<u8>) {
    let integers = |values: Vec<i64>| {
        (
            Dtype::I64,
            values.into_iter().flat_map(i64::to_le_bytes).collect(),
        )
    };
    let floats = |values: Vec<f32>| {
        (
            Dtype::F32,
            values.into_iter().flat_map(f32::to_le_bytes).collect(),
        )
    };
    let pairs = || bytes.as_chunks::<2>().0.iter().copied();
    match dtype {
        Dtype::I8 => integers(
            bytes
                .iter()
                .map(|byte| i64::from(byte.cast_signed()))
                .collect(),
        ),
        Dtype::I16 => integers(
            pairs()
                .map(|pair| i16::from_le_bytes(pair).into())
                .collect(),
        ),
        Dtype::F16 => floats(
            pairs()
                .map(|pair| half::f16::from_le_bytes(pair).into())
                .collect(),
        ),
        Dtype::BF16 => floats(
            pairs()
                .map(|pair| half::bf16::from_le_bytes(pair).into())
                .collect(),
        ),
        _ => (dtype, bytes.to_vec()),
    }
}

/// The tensors of a file: type, shape and bytes by name.
pub(crate) struct Tensors {
    named: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
    /// The metadata of the file.
    pub(crate) metadata: HashMap<String, String>,
}

impl Tensors {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let named = file
            .iter()
            .map(|(name, view)| {
                let (dtype, bytes) = widened(view.dtype(), view.data());
                (name.to_owned(), (dtype, view.shape().to_vec(), bytes))
            })
            .collect();
        Self {
            named,
            metadata: header.metadata().clone().unwrap_or_default(),
        }
    }

    fn write(&self, path: &Path) {
        let views = self.named.iter().map(|(name, (dtype, shape, bytes))| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize_to_file(views, Some(self.metadata.clone()), path).unwrap();
    }

    /// Every name, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.named.keys().cloned().collect()
    }

    /// Removes a tensor.
    pub(crate) fn remove(&mut self, name: &str) {
        self.named
            .remove(name)
            .unwrap_or_else(|| panic!("no {name}"));
    }

    /// Copies a tensor to another name.
    pub(crate) fn copy(&mut self, name: &str, other: &str) {
        let tensor = self.named[name].clone();
        self.named.insert(other.to_owned(), tensor);
    }

    /// The shape of a tensor.
    pub(crate) fn shape(&self, name: &str) -> Vec<usize> {
        self.named[name].1.clone()
    }

    /// Changes the shape of a tensor, with the same elements.
    pub(crate) fn reshape(&mut self, name: &str, shape: &[usize]) {
        self.named.get_mut(name).unwrap().1 = shape.to_vec();
    }

    /// Changes the elements of an f32 tensor.
    pub(crate) fn floats(&mut self, name: &str, change: impl FnOnce(&mut Vec<f32>)) {
        let (dtype, _, bytes) = self
            .named
            .get_mut(name)
            .unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(*dtype, Dtype::F32);
        let mut values: Vec<f32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|chunk| f32::from_le_bytes(*chunk))
            .collect();
        change(&mut values);
        *bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
    }

    /// Changes the elements of an i64 tensor.
    pub(crate) fn integers(&mut self, name: &str, change: impl Fn(i64) -> i64) {
        let (dtype, _, bytes) = self
            .named
            .get_mut(name)
            .unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(*dtype, Dtype::I64);
        let values = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|chunk| change(i64::from_le_bytes(*chunk)));
        *bytes = values.flat_map(i64::to_le_bytes).collect();
    }

    /// Changes the first element of a tensor of floats, or all elements of one of integers.
    pub(crate) fn disturb(&mut self, name: &str) {
        match self.named[name].0 {
            Dtype::F32 => self.floats(name, |values| values[0] += 1.0),
            _ => self.integers(name, |value| value + 1),
        }
    }

    /// Reverses the elements of a u8 tensor.
    pub(crate) fn flip_bytes(&mut self, name: &str) {
        let (dtype, _, bytes) = self
            .named
            .get_mut(name)
            .unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(*dtype, Dtype::U8);
        bytes.reverse();
    }

    /// Swaps two blocks of `rows` rows of a matrix; `one` and `other` are the numbers of the
    /// blocks.
    pub(crate) fn swap_rows(&mut self, name: &str, rows: usize, one: usize, other: usize) {
        let width: usize = self.shape(name)[1..].iter().product();
        self.floats(name, |values| {
            for offset in 0..rows * width {
                values.swap(one * rows * width + offset, other * rows * width + offset);
            }
        });
    }

    /// Transposes a matrix: elements and shape.
    pub(crate) fn transpose(&mut self, name: &str) {
        let [rows, columns] = self.shape(name).try_into().unwrap();
        self.floats(name, |values| {
            let old = values.clone();
            for (flat, value) in values.iter_mut().enumerate() {
                *value = old[(flat % rows) * columns + flat / rows];
            }
        });
        self.reshape(name, &[columns, rows]);
    }
}

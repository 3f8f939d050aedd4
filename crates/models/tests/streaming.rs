//! Layers that are streamed: the bits of resident ones, for every fixture, and files that change.

use half::f16;
use safetensors::{Dtype, SafeTensors};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
};
use testgen_models::{Checkpoint, LoadError, Model, load_model};
use testgen_nn::{
    array::{Array, Arrays},
    device::BackendDevice,
    forward::ForwardError,
    weights::Residency,
};
use testgen_types::{ModelType, Precision, Repetitions};

/// The model of a fixture whose type has a native implementation.
struct Fixture {
    name: String,
    directory: PathBuf,
    model_type: ModelType,
    inputs: Arrays,
}

/// Every such fixture with recorded inputs, by name.
fn fixtures() -> Vec<Fixture> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found: Vec<Fixture> = fs::read_dir(fixtures)
        .expect("there are fixtures")
        .filter_map(|entry| fixture(&entry.expect("it is there").path()))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn fixture(directory: &Path) -> Option<Fixture> {
    let config = Checkpoint::at(directory).config().ok()?;
    let inputs = inputs(&directory.join("golden.safetensors"))?;
    Some(Fixture {
        name: directory.file_name()?.to_str()?.to_owned(),
        directory: directory.to_owned(),
        model_type: config["model_type"].as_str()?.parse().ok()?,
        inputs,
    })
}

/// The inputs of the main case of a golden.
fn inputs(golden: &Path) -> Option<Arrays> {
    let bytes = fs::read(golden).ok()?;
    let file = SafeTensors::deserialize(&bytes).expect("it is safetensors");
    let tensors = file.tensors().into_iter().filter_map(|(name, view)| {
        let name = name.strip_prefix("input.")?.to_owned();
        Some((name, array(view.dtype(), view.shape(), view.data())))
    });
    Some(tensors.collect())
}

fn array(dtype: Dtype, shape: &[usize], data: &[u8]) -> Array {
    match dtype {
        Dtype::U8 => Array::bytes(shape, data.to_vec()),
        Dtype::F16 => Array::floats(
            shape,
            each(data, |bytes| f16::from_le_bytes(bytes).to_f32()),
        ),
        Dtype::F32 => Array::floats(shape, each(data, f32::from_le_bytes)),
        Dtype::I8 => Array::integers(shape, each(data, |bytes| i8::from_le_bytes(bytes).into())),
        Dtype::I16 => Array::integers(shape, each(data, |bytes| i16::from_le_bytes(bytes).into())),
        Dtype::I64 => Array::integers(shape, each(data, i64::from_le_bytes)),
        other => panic!("inputs of {other:?} are not recorded"),
    }
}

fn each<const N: usize, T>(data: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, _) = data.as_chunks();
    chunks.iter().map(|chunk| read(*chunk)).collect()
}

fn load(fixture: &Fixture, precision: Precision, residency: Residency) -> Result<Model, LoadError> {
    load_model(
        fixture.model_type,
        &Checkpoint::at(&fixture.directory),
        &BackendDevice::Cpu(Default::default()),
        precision,
        residency,
    )
}

/// Whether both models compute the same bits and the same traces.
fn agree(resident: &Model, streamed: &Model, inputs: &Arrays) -> bool {
    let [resident, streamed] = [resident, streamed].map(|model| {
        let forward = model.forward_traced(inputs).expect("it computes");
        (forward.outputs, forward.trace, forward.host_outputs)
    });
    resident == streamed
}

/// The fixtures of types without a stack of layers.
const WITHOUT_STACK: &[&str] = &[
    "convnext",
    "convnext_unscaled",
    "resnet_basic",
    "resnet_bottleneck",
];

#[test]
fn streamed_layers_compute_the_bits_of_resident_ones() {
    let mut without_stack = BTreeSet::new();
    let mut compared = 0;
    for fixture in fixtures() {
        for precision in [Precision::F32, Precision::Bf16] {
            let resident = match load(&fixture, precision, Residency::Resident) {
                // Implemented by engines only.
                Err(LoadError::Unsupported(_)) => continue,
                loaded => loaded.unwrap_or_else(|error| panic!("{}: {error}", fixture.name)),
            };
            match load(&fixture, precision, Residency::Streamed) {
                Err(LoadError::Unsupported(_)) => {
                    without_stack.insert(fixture.name.clone());
                }
                streamed => {
                    let streamed = streamed.expect("it loads");
                    assert!(
                        agree(&resident, &streamed, &fixture.inputs),
                        "{} in {precision}",
                        fixture.name
                    );
                    assert_eq!(resident.tensors(), streamed.tensors(), "{}", fixture.name);
                    compared += 1;
                }
            }
        }
    }
    let without_stack: Vec<&str> = without_stack.iter().map(String::as_str).collect();
    assert_eq!(without_stack, WITHOUT_STACK);
    assert!(compared > 100, "{compared} compared");
}

/// The fixture in a directory of its own, whose file may be changed.
fn copy(name: &str) -> (tempfile::TempDir, Fixture) {
    let directory = tempfile::tempdir().expect("there is a directory");
    let original = fixtures().into_iter().find(|fixture| fixture.name == name);
    let original = original.expect("it is a fixture");
    for entry in fs::read_dir(&original.directory).expect("it is there") {
        let path = entry.expect("it is there").path();
        let file = path.file_name().expect("it has a name");
        fs::copy(&path, directory.path().join(file)).expect("it can be copied");
    }
    let copied = Fixture {
        directory: directory.path().to_owned(),
        ..original
    };
    (directory, copied)
}

#[test]
fn a_file_that_changes_is_an_error_of_the_next_call() {
    let (_directory, fixture) = copy("llama");
    let weights = fixture.directory.join("model.safetensors");
    let [resident, streamed] = [Residency::Resident, Residency::Streamed]
        .map(|residency| load(&fixture, Precision::F16, residency).expect("it loads"));
    assert!(agree(&resident, &streamed, &fixture.inputs));
    let length = fs::metadata(&weights).expect("it is there").len();
    let file = File::options().write(true).open(&weights);
    file.and_then(|file| file.set_len(length / 2))
        .expect("it can be cut off");
    let error = streamed.forward(&fixture.inputs).expect_err("it is gone");
    assert!(matches!(error, ForwardError::Stream(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("model.safetensors`: it was changed"),
        "{text}"
    );
    // Nothing is read again.
    resident.forward(&fixture.inputs).expect("it computes");
}

#[test]
fn times_are_those_of_streamed_layers() {
    let (_directory, fixture) = copy("t5");
    let times = |residency| {
        let model = load(&fixture, Precision::F32, residency).expect("it loads");
        model
            .time_layers(&fixture.inputs, Repetitions::exactly(2))
            .expect("it computes")
    };
    assert_eq!(times(Residency::Resident), None);
    let streamed = times(Residency::Streamed).expect("it is streamed");
    assert_eq!(streamed.len(), 2);
    for times in streamed {
        assert!(!times.load.is_zero() && !times.compute.is_zero() && !times.together.is_zero());
    }
}

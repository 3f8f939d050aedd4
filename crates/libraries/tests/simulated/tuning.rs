//! The file of `--tune` on simulated libraries: every algorithm is measured, a wrong one is never
//! used, and the file is used again.

use crate::{installation::run, worker::opened};
use std::{path::Path, sync::Arc};
use testgen_device::DeviceKind;
use testgen_libraries::{
    Buffers, ComputeType, ConvolutionBuffers, ConvolutionProblem, DeviceAddress, Gemm, GemmCall,
    GemmTypes, LibraryGpu, Operand, Tuning, TuningFile, TuningMode, VendorLibraries,
};
use testgen_operators::calls::{Attributes, Element};
use testgen_types::{Operator, Precision, TunedAlgorithm, TunedComputation};

const SIZES: [usize; 3] = [5, 4, 7];

/// The libraries with a file: `measure tuned.jsonl`, or `read tuned.jsonl`.
fn tuned_libraries(file: &str) -> VendorLibraries {
    let (mode, path) = file.split_once(' ').expect("a mode and a path");
    let mode = if mode == "measure" {
        TuningMode::Measure
    } else {
        TuningMode::Read
    };
    let tuning = Tuning {
        file: Arc::new(TuningFile::load(Path::new(path), mode).expect("is readable")),
        device: "AMD gfx1100".to_owned(),
    };
    VendorLibraries::open(DeviceKind::Rocm, 0, Some(tuning)).expect("they open")
}

/// `count` ones in the memory of the device.
fn ones(gpu: &dyn LibraryGpu, count: usize) -> DeviceAddress {
    let bytes = 1.0_f32.to_le_bytes().repeat(count);
    let address = gpu.allocate(bytes.len()).expect("there is memory");
    gpu.upload(address, &bytes).expect("it is copied");
    address
}

/// Asserts that the memory has `count` times `value`.
fn assert_all(gpu: &dyn LibraryGpu, address: DeviceAddress, value: f32, count: usize) {
    let expected = value.to_le_bytes().repeat(count);
    let mut result = vec![0; expected.len()];
    gpu.download(address, &mut result).expect("it is copied");
    assert_eq!(result, expected);
}

/// In the subprocess: one product of ones, computed as the file says.
pub(crate) fn multiply(file: &str) {
    let libraries = tuned_libraries(file);
    let gpu = opened("rocblas").gpu;
    let product = GemmCall::from(&Gemm::new(SIZES, GemmTypes::for_precision(Precision::F32)));
    let [a, b, d] = [Operand::A, Operand::B, Operand::D]
        .map(|operand| ones(&*gpu, product.stored(operand).elements()));
    let buffers = Buffers::new([a, b, d, d]);
    libraries
        .multiply(&[(product, buffers)], || Ok(()))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_all(&*gpu, d, 7.0, 20);
}

/// In the subprocess: one convolution of ones, computed as the file says, twice.
pub(crate) fn convolve(file: &str) {
    let libraries = tuned_libraries(file);
    let versions = libraries.convolutions().expect("it is installed");
    assert!(versions.contains(", tun"), "{versions}");
    assert_eq!(libraries.versions().matches(", tun").count(), 1);
    let gpu = opened("miopen").gpu;
    let attributes = Attributes {
        groups: 1,
        ..Attributes::default()
    };
    let shapes: [&[usize]; 2] = [&[2, 3, 6, 5], &[4, 3, 3, 2]];
    let types = (Element::F32, ComputeType::F32);
    let problem = ConvolutionProblem::new(Operator::Conv2d, types, shapes, &attributes)
        .expect("is a convolution");
    let count: usize = problem.y.iter().product();
    let [x, weight] = shapes.map(|shape| ones(&*gpu, shape.iter().product()));
    for _ in 0..2 {
        let buffers = ConvolutionBuffers {
            x,
            weight,
            y: ones(&*gpu, count),
            workspace: DeviceAddress(0),
        };
        libraries
            .convolve(&problem, buffers, || Ok(()))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_all(&*gpu, buffers.y, 18.0, count);
    }
}

/// The content of the file after a process on it in this role, and the output of the process if it
/// failed.
fn tuned_in(
    role: &str,
    path: &Path,
    mode: &str,
    faults: &str,
) -> (Vec<TunedComputation>, Option<String>) {
    let output = run(&format!("{role} {mode} {}", path.display()), faults);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let lines = std::fs::read_to_string(path).unwrap_or_default();
    let computations = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a tuned computation"))
        .collect();
    (
        computations,
        (!output.status.success()).then(|| text.into_owned()),
    )
}

/// Like [`tuned_in`], for a product.
fn tuned(path: &Path, mode: &str, faults: &str) -> (Vec<TunedComputation>, Option<String>) {
    tuned_in("tuning", path, mode, faults)
}

/// Like [`tuned_in`], for a convolution.
fn tuned_convolution(
    path: &Path,
    mode: &str,
    faults: &str,
) -> (Vec<TunedComputation>, Option<String>) {
    tuned_in("tuned_convolution", path, mode, faults)
}

#[test]
fn every_algorithm_is_measured_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    let (first, failed) = tuned(&path, "measure", "");
    assert_eq!(failed, None);
    let [product] = first.as_slice() else {
        panic!("{first:?}");
    };
    for library in ["rocblas", "hipblaslt"] {
        let of_library = |one: &&TunedAlgorithm| one.library == library;
        assert!(
            product.algorithms.iter().filter(of_library).count() > 1,
            "{product:?}"
        );
    }
    assert!(
        product.algorithms.iter().all(|one| one.is_correct()),
        "{product:?}"
    );
    for mode in ["measure", "read"] {
        assert_eq!(tuned(&path, mode, ""), (first.clone(), None), "{mode}");
    }
}

#[test]
fn a_wrong_algorithm_is_not_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    let (products, failed) = tuned(&path, "measure", "blas=solution");
    assert_eq!(failed, None);
    let wrong = products[0]
        .algorithms
        .iter()
        .filter(|one| !one.is_correct());
    let problems: Vec<&str> = wrong.filter_map(|one| one.problem.as_deref()).collect();
    assert_eq!(problems, ["20 elements were not written"; 2]);
}

#[test]
fn a_product_that_no_algorithm_computes_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    for fault in ["blas=silent", "blas=refuse"] {
        std::fs::remove_file(&path).ok();
        let (products, failed) = tuned(&path, "measure", fault);
        let message = failed.expect("it fails");
        assert!(
            message.contains("no algorithm computes f32 NN 5x4x7"),
            "{message}"
        );
        assert!(
            products[0]
                .algorithms
                .iter()
                .all(|one| one.problem.is_some())
        );
    }
}

/// The names of algorithms.
fn names<'a>(algorithms: impl IntoIterator<Item = &'a TunedAlgorithm>) -> Vec<&'a str> {
    let algorithms = algorithms.into_iter();
    algorithms.map(|one| one.id.as_str()).collect()
}

const SOLUTIONS: [&str; 3] = ["Winograd 53", "Direct 11", "GEMM 91"];

#[test]
fn every_solution_of_a_convolution_is_measured_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    let (first, failed) = tuned_convolution(&path, "measure", "");
    assert_eq!(failed, None);
    let [convolution] = first.as_slice() else {
        panic!("{first:?}");
    };
    let key = serde_json::to_value(&convolution.key).expect("is JSON");
    assert_eq!(
        key["convolution"],
        "f32 conv2d [2, 3, 6, 5] [4, 3, 3, 2] padding [0, 0] stride [1, 1] dilation [1, 1] groups 1"
    );
    assert_eq!(key["libraries"][0], "miopen 3.3.0");
    assert_eq!(names(&convolution.algorithms), SOLUTIONS);
    let correct = convolution.algorithms.iter().all(|one| one.is_correct());
    assert!(correct, "{convolution:?}");
    for mode in ["measure", "read"] {
        assert_eq!(
            tuned_convolution(&path, mode, ""),
            (first.clone(), None),
            "{mode}"
        );
    }
}

#[test]
fn a_wrong_solution_of_a_convolution_is_not_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    for (fault, expected) in [
        ("solution", "128 elements are NaN or were not written"),
        ("nan", "1 elements are NaN or were not written"),
        (
            "workspace",
            "memory 0 bytes after the workspace was overwritten",
        ),
    ] {
        std::fs::remove_file(&path).ok();
        let (computations, failed) =
            tuned_convolution(&path, "measure", &format!("convolution={fault}"));
        assert_eq!(failed, None, "{fault}");
        let all = &computations[0].algorithms;
        let wrong: Vec<_> = all.iter().filter(|one| !one.is_correct()).collect();
        assert_eq!(names(wrong.iter().copied()), ["GEMM 91"], "{fault}");
        let problem = wrong[0].problem.as_deref();
        assert_eq!(problem, Some(expected), "{fault}");
    }
}

#[test]
fn the_stored_solution_of_a_convolution_is_used_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    let (measured, failed) = tuned_convolution(&path, "measure", "");
    assert_eq!(failed, None);
    for fastest in SOLUTIONS {
        let mut computation = measured[0].clone();
        for algorithm in &mut computation.algorithms {
            let time = if algorithm.id == fastest { 1.0 } else { 2.0 };
            algorithm.microseconds = Some(time);
        }
        let line = serde_json::to_string(&computation).expect("is JSON");
        std::fs::write(&path, line + "\n").expect("is writable");
        // Its results are wrong, which the file does not say.
        let (_, failed) = tuned_convolution(&path, "read", "convolution=solution");
        assert_eq!(failed.is_some(), fastest == "GEMM 91", "{fastest}");
    }
}

#[test]
fn a_convolution_that_no_solution_computes_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    for fault in ["silent", "refuse", "flip"] {
        std::fs::remove_file(&path).ok();
        let (computations, failed) =
            tuned_convolution(&path, "measure", &format!("convolution={fault}"));
        let message = failed.expect("it fails");
        assert!(
            message.contains("no algorithm computes f32 conv2d [2, 3, 6, 5]"),
            "{message}"
        );
        let all = &computations[0].algorithms;
        assert!(all.iter().all(|one| one.problem.is_some()), "{fault}");
    }
}

//! The file of `--tune` on simulated libraries: every algorithm is measured, a wrong one is never
//! used, and the file is used again.

use crate::{installation::run, worker::opened};
use std::{path::Path, sync::Arc};
use testgen_device::DeviceKind;
use testgen_libraries::{
    Buffers, Gemm, GemmCall, GemmTypes, Operand, Tuning, TuningFile, TuningMode, VendorLibraries,
};
use testgen_types::{Precision, TunedProduct};

const SIZES: [usize; 3] = [5, 4, 7];

/// In the subprocess: one product of ones, computed as the file says.
pub(crate) fn multiply(file: &str) {
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
    let libraries = VendorLibraries::open(DeviceKind::Rocm, 0, Some(tuning)).expect("they open");
    let gpu = opened("rocblas").gpu;
    let product = GemmCall::from(&Gemm::new(SIZES, GemmTypes::for_precision(Precision::F32)));
    let ones = |operand| {
        let bytes = 1.0_f32
            .to_le_bytes()
            .repeat(product.stored(operand).elements());
        let address = gpu.allocate(bytes.len()).expect("there is memory");
        gpu.upload(address, &bytes).expect("it is copied");
        address
    };
    let [a, b, d] = [Operand::A, Operand::B, Operand::D].map(ones);
    let buffers = Buffers::new([a, b, d, d]);
    libraries
        .multiply(&[(product.clone(), buffers)], || Ok(()))
        .unwrap_or_else(|error| panic!("{error}"));
    let mut result = vec![0; product.stored(Operand::D).bytes()];
    gpu.download(d, &mut result).expect("it is copied");
    assert_eq!(result, 7.0_f32.to_le_bytes().repeat(20));
}

/// The file after a process on it, and the process's output if it failed.
fn tuned(path: &Path, mode: &str, faults: &str) -> (Vec<TunedProduct>, Option<String>) {
    let output = run(&format!("tuning {mode} {}", path.display()), faults);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let lines = std::fs::read_to_string(path).unwrap_or_default();
    let products = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a tuned product"))
        .collect();
    (
        products,
        (!output.status.success()).then(|| text.into_owned()),
    )
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
        let of_library = |one: &&testgen_types::TunedAlgorithm| one.library == library;
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

//! Products of models with a bias: in the kernel of hipBLASLt, and before the product where the
//! matrices begin at an address that its list is not made for.

use crate::{installation::run, worker::opened};
use std::sync::Arc;
use testgen_device::DeviceKind;
use testgen_libraries::{
    Buffers, DeviceAddress, Gemm, GemmCall, GemmTypes, Operand, Tuning, TuningFile, TuningMode,
    VendorLibraries,
};
use testgen_types::{Precision, TunedComputation};

const SIZES: [usize; 3] = [5, 4, 7];

/// In the subprocess: a product of ones with the bias 0, 1, 2 ..., whose result begins some bytes
/// after an aligned address, tuned into a file if one is named: `4 tuned.jsonl`.
pub(crate) fn multiply(role: &str) {
    let (offset, file) = role.split_once(' ').unwrap_or((role, ""));
    let offset: usize = offset.parse().expect("a number of bytes");
    let tuning = (!file.is_empty()).then(|| Tuning {
        file: Arc::new(TuningFile::load(file.as_ref(), TuningMode::Measure).expect("is readable")),
        device: "AMD gfx1100".to_owned(),
    });
    let libraries = VendorLibraries::open(DeviceKind::Rocm, 0, tuning).expect("they open");
    let gpu = opened("rocblas").gpu;
    let gemm = Gemm::new(SIZES, GemmTypes::for_precision(Precision::F32));
    let mut product = GemmCall::from(&gemm);
    product.epilogue.bias = true;
    let copied = |values: Vec<f32>| {
        let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
        let address = gpu.allocate(bytes.len()).expect("there is memory");
        gpu.upload(address, &bytes).expect("it is copied");
        address
    };
    let [a, b] = [Operand::A, Operand::B]
        .map(|operand| copied(vec![1.0; product.stored(operand).elements()]));
    // A result that is not written stays NaN, and so does one to which the product is only added.
    let elements = product.stored(Operand::D).elements();
    let d = copied(vec![f32::NAN; elements + offset / 4]);
    let d = DeviceAddress(d.0 + offset as u64);
    let buffers = Buffers {
        bias: copied((0_u8..5).map(f32::from).collect()),
        ..Buffers::new([a, b, d, d])
    };
    libraries
        .multiply(&[(product.clone(), buffers)], || Ok(()))
        .unwrap_or_else(|error| panic!("{error}"));
    let mut result = vec![0; product.stored(Operand::D).bytes()];
    gpu.download(d, &mut result).expect("it is copied");
    let values: Vec<f32> = result
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("has 4 bytes")))
        .collect();
    assert_eq!(values, [7.0, 8.0, 9.0, 10.0, 11.0].repeat(4));
}

fn succeeds(offset: usize, faults: &str) -> bool {
    run(&format!("bias {offset}"), faults).status.success()
}

#[test]
fn a_bias_is_added_at_every_address() {
    for offset in [0, 4, 256] {
        assert!(succeeds(offset, ""), "{offset}");
    }
}

#[test]
fn only_aligned_results_are_computed_by_the_library_with_epilogues() {
    for (offset, epilogue) in [(0, true), (4, false), (256, true)] {
        assert_eq!(succeeds(offset, "blas=bias"), !epilogue, "{offset}");
    }
}

#[test]
fn a_bias_is_tuned_with_its_product_where_the_list_is_made_for_the_addresses() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuned.jsonl");
    let tuned = |offset: usize, faults: &str| {
        std::fs::remove_file(&path).ok();
        let output = run(&format!("bias {offset} {}", path.display()), faults);
        let lines = std::fs::read_to_string(&path).unwrap_or_default();
        let products: Vec<TunedComputation> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("a tuned computation"))
            .collect();
        (output.status.success(), products)
    };
    let (succeeds, products) = tuned(0, "");
    let [product] = products.as_slice() else {
        panic!("{products:?}");
    };
    let algorithms = &product.algorithms;
    assert!(succeeds && algorithms.len() > 1, "{product:?}");
    // The simulated rocBLAS has no epilogue.
    let is_right =
        |one: &testgen_types::TunedAlgorithm| one.library == "hipblaslt" && one.is_correct();
    assert!(algorithms.iter().all(is_right), "{product:?}");
    let (succeeds, products) = tuned(0, "blas=bias");
    assert!(!succeeds && products[0].fastest().is_none(), "{products:?}");
    assert_eq!(tuned(4, "blas=bias"), (true, Vec::new()));
}

//! Numbers, signatures and structure sizes of the libraries and of the simulated ones, compared
//! with those of the published headers.
//!
//! `amd.txt` and `nvidia.txt` name the headers with their versions; `extract.py` writes them.

mod dnn;
mod lt;

use hip_sim_hipblaslt::numbers as simulated_lt;
use hip_sim_rocblas::numbers as simulated;
use std::collections::BTreeMap;
use std::path::Path;
use testgen_libraries::{
    CUBLASLT, HIPBLASLT, NumberType, RocblasNumbers, parameter_class, signatures,
};

const AMD: &str = include_str!("amd.txt");
const NVIDIA: &str = include_str!("nvidia.txt");

/// Lines of a table by kind and name.
fn declared<'text>(table: &'text str, kind: &str) -> BTreeMap<&'text str, Vec<&'text str>> {
    let words = table
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    let of_kind = words.filter(|words| words[0] == kind && words.len() > 1);
    of_kind
        .map(|words| (words[1], words[2..].to_vec()))
        .collect()
}

fn number(table: &str, name: &str) -> i32 {
    let numbers = declared(table, "enum");
    let words = numbers
        .get(name)
        .unwrap_or_else(|| panic!("no header declares {name}"));
    words[0].parse().expect("is a number")
}

fn amd(name: &str) -> i32 {
    number(AMD, name)
}

#[test]
fn numbers_of_rocblas_are_those_of_its_headers() {
    let operations = ["rocblas_operation_none", "rocblas_operation_transpose"].map(amd);
    assert_eq!(RocblasNumbers::OPERATIONS, operations);
    assert_eq!(
        [simulated::OPERATION_NONE, simulated::OPERATION_TRANSPOSE],
        operations
    );
    assert_eq!(
        simulated::OPERATION_CONJUGATE_TRANSPOSE,
        amd("rocblas_operation_conjugate_transpose")
    );
    let types = [
        "rocblas_datatype_f16_r",
        "rocblas_datatype_f32_r",
        "rocblas_datatype_bf16_r",
    ]
    .map(amd);
    let own = [NumberType::F16, NumberType::F32, NumberType::Bf16].map(RocblasNumbers::number);
    assert_eq!(own, types.map(Some));
    assert_eq!([simulated::F16, simulated::F32, simulated::BF16], types);
    let algorithms = [
        "rocblas_gemm_algo_standard",
        "rocblas_gemm_algo_solution_index",
    ]
    .map(amd);
    assert_eq!(
        [RocblasNumbers::STANDARD, RocblasNumbers::SOLUTION_INDEX],
        algorithms
    );
    assert_eq!(
        [simulated::ALGO_STANDARD, simulated::ALGO_SOLUTION_INDEX],
        algorithms
    );
    let modes = ["rocblas_default_math", "rocblas_xf32_xdl_math_op"].map(amd);
    assert_eq!(
        [RocblasNumbers::DEFAULT_MATH, RocblasNumbers::XF32_MATH],
        modes
    );
    assert_eq!([simulated::DEFAULT_MATH, simulated::XF32_MATH], modes);
    assert_eq!(
        RocblasNumbers::NO_ATOMICS,
        amd("rocblas_atomics_not_allowed")
    );
    let unsupported = ["not_implemented", "excluded_from_build", "arch_mismatch"];
    assert_eq!(
        RocblasNumbers::UNSUPPORTED,
        unsupported.map(|name| amd(&format!("rocblas_status_{name}")))
    );
}

#[test]
fn names_of_statuses_are_those_of_the_headers() {
    let all = [
        (AMD, RocblasNumbers::STATUSES),
        (AMD, HIPBLASLT.statuses),
        (NVIDIA, CUBLASLT.statuses),
    ];
    for (table, statuses) in all {
        statuses
            .iter()
            .for_each(|(code, name)| assert_eq!(*code, number(table, name), "{name}"));
    }
    use simulated::RocblasStatus;
    let of_rocblas = [
        (RocblasStatus::InvalidHandle, "invalid_handle"),
        (RocblasStatus::NotImplemented, "not_implemented"),
        (RocblasStatus::InvalidPointer, "invalid_pointer"),
        (RocblasStatus::InvalidSize, "invalid_size"),
        (RocblasStatus::InternalError, "internal_error"),
        (RocblasStatus::InvalidValue, "invalid_value"),
    ];
    of_rocblas.iter().for_each(|(status, name)| {
        assert_eq!(*status as i32, amd(&format!("rocblas_status_{name}")))
    });
    use simulated_lt::HipblasStatus as LtStatus;
    let of_hipblas = [
        (LtStatus::NotInitialized, "NOT_INITIALIZED"),
        (LtStatus::InvalidValue, "INVALID_VALUE"),
        (LtStatus::InternalError, "INTERNAL_ERROR"),
        (LtStatus::NotSupported, "NOT_SUPPORTED"),
    ];
    of_hipblas.iter().for_each(|(status, name)| {
        assert_eq!(*status as i32, amd(&format!("HIPBLAS_STATUS_{name}")))
    });
}

#[test]
fn signatures_are_those_of_the_headers() {
    let functions: BTreeMap<&str, Vec<&str>> = [AMD, NVIDIA]
        .iter()
        .flat_map(|table| declared(table, "function"))
        .collect();
    let own = signatures();
    assert_eq!(own.len(), 117);
    for (name, parameters) in own {
        let published = functions
            .get(name.as_str())
            .unwrap_or_else(|| panic!("no header declares {name}"));
        assert_eq!(&parameters, published, "{name}");
    }
}

/// The parameters of each C function of a simulated library, from its source text.
fn exported(folder: &str) -> BTreeMap<String, Vec<&'static str>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../hip-sim")
        .join(folder)
        .join("src");
    let mut functions = BTreeMap::new();
    for file in std::fs::read_dir(&folder).expect("is a folder") {
        let text = std::fs::read_to_string(file.expect("is readable").path()).expect("is text");
        for part in text.split("extern \"C\" fn ").skip(1) {
            let (name, rest) = part.split_once('(').expect("has parameters");
            let (parameters, _) = rest.split_once(") -> c_int").expect("returns a status");
            let types = parameters
                .split(',')
                .filter_map(|parameter| parameter.split_once(": "));
            let classes = types.map(|(_, kind)| parameter_class(kind)).collect();
            functions.insert(name.to_owned(), classes);
        }
    }
    functions
}

#[test]
fn the_simulated_libraries_export_every_function_with_its_signature() {
    let exported: BTreeMap<_, _> = ["rocblas", "hipblaslt", "miopen"]
        .into_iter()
        .flat_map(exported)
        .collect();
    let published = declared(AMD, "function");
    assert_eq!(
        exported.keys().collect::<Vec<_>>(),
        published.keys().collect::<Vec<_>>()
    );
    for (name, parameters) in &exported {
        assert_eq!(parameters, &published[name.as_str()], "{name}");
    }
}

//! Numbers, signatures and structure sizes of the libraries and of the simulated ones, compared
//! with those of the published headers.
//!
//! `amd.txt` and `nvidia.txt` name the headers with their versions; `extract.py` writes them.

mod dnn;

use hip_sim_hipblaslt::numbers as simulated_lt;
use hip_sim_rocblas::numbers as simulated;
use std::collections::BTreeMap;
use std::path::Path;
use testgen_libraries::{
    CUBLAS_SUMS_IN_SINGLE, CUBLASLT, ComputeType, Dialect, Epilogue, HIPBLASLT, NumberType,
    RocblasNumbers, parameter_class, signatures,
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

/// The numbers of a dialect, by the names of its header: `prefix` of functions and attributes,
/// `base` of types of the base library.
fn compare_dialect(dialect: &Dialect, table: &str, prefix: &str, base: &str) {
    let named = |name: &str| number(table, &format!("{prefix}_{name}"));
    let of_base = |name: &str| number(table, &format!("{base}_{name}"));
    assert_eq!(dialect.operations, ["OP_N", "OP_T"].map(of_base));
    assert_eq!(dialect.compute(ComputeType::F32), of_base("COMPUTE_32F"));
    assert_eq!(
        dialect.compute(ComputeType::Tf32),
        of_base("COMPUTE_32F_FAST_TF32")
    );
    assert_eq!(
        dialect.transposes,
        ["MATMUL_DESC_TRANSA", "MATMUL_DESC_TRANSB"].map(named)
    );
    assert_eq!(dialect.compute(ComputeType::I32), of_base("COMPUTE_32I"));
    assert_eq!(dialect.epilogue, named("MATMUL_DESC_EPILOGUE"));
    assert_eq!(
        dialect.bias,
        ["MATMUL_DESC_BIAS_POINTER", "MATMUL_DESC_BIAS_DATA_TYPE"].map(named)
    );
    assert_eq!(
        dialect.scales,
        ["MATMUL_DESC_A_SCALE_POINTER", "MATMUL_DESC_B_SCALE_POINTER"].map(named)
    );
    // NVIDIA's header has the two others as the bits of these.
    let [bias, relu, gelu] = ["BIAS", "RELU", "GELU"].map(|it| named(&format!("EPILOGUE_{it}")));
    let numbers = Epilogue::ALL.map(|epilogue| epilogue.number().cast_signed());
    assert_eq!(numbers, [bias, relu, bias | relu, gelu, bias | gelu]);
    let none = Epilogue::NONE.number().cast_signed();
    assert_eq!(none, named("EPILOGUE_DEFAULT"));
    assert_eq!(dialect.batch_count, named("MATRIX_LAYOUT_BATCH_COUNT"));
    assert_eq!(
        dialect.batch_stride,
        named("MATRIX_LAYOUT_STRIDED_BATCH_OFFSET")
    );
    assert_eq!(dialect.workspace, named("MATMUL_PREF_MAX_WORKSPACE_BYTES"));
    assert_eq!(dialect.unsupported.len(), 2);
    for name in ["STATUS_NOT_SUPPORTED", "STATUS_ARCH_MISMATCH"] {
        assert!(dialect.unsupported.contains(&of_base(name)), "{name}");
    }
    let bytes = |name: &str| {
        declared(table, "struct")[name][0]
            .parse::<usize>()
            .expect("is a number")
    };
    assert_eq!(
        dialect.algorithm_words * 8,
        bytes(&format!("{}MatmulAlgo_t", dialect.prefix))
    );
    assert_eq!(
        dialect.result_words * 8,
        bytes(&format!("{}MatmulHeuristicResult_t", dialect.prefix))
    );
}

#[test]
fn numbers_of_the_dialects_are_those_of_their_headers() {
    compare_dialect(&HIPBLASLT, AMD, "HIPBLASLT", "HIPBLAS");
    compare_dialect(&CUBLASLT, NVIDIA, "CUBLASLT", "CUBLAS");
    let of_cublas = |name: &str| number(NVIDIA, name);
    let attribute = of_cublas("CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK");
    let in_single = of_cublas("CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE").cast_unsigned();
    assert_eq!(
        (CUBLASLT.reductions, HIPBLASLT.reductions),
        (Some((attribute, in_single)), None)
    );
    assert_eq!(
        CUBLAS_SUMS_IN_SINGLE,
        of_cublas("CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION")
    );
    use NumberType::{Bf16, E4m3, E4m3Fnuz, E5m2, E5m2Fnuz, F16, F32, I8, I32};
    for (number_type, name) in [
        (F32, "32F"),
        (F16, "16F"),
        (Bf16, "16BF"),
        (I8, "8I"),
        (I32, "32I"),
        (E4m3Fnuz, "8F_E4M3_FNUZ"),
        (E5m2Fnuz, "8F_E5M2_FNUZ"),
    ] {
        assert_eq!(
            HIPBLASLT.number(number_type),
            Some(amd(&format!("HIP_R_{name}"))),
            "{name}"
        );
    }
    for (number_type, name) in [
        (F32, "32F"),
        (F16, "16F"),
        (Bf16, "16BF"),
        (I8, "8I"),
        (I32, "32I"),
        (E4m3, "8F_E4M3"),
        (E5m2, "8F_E5M2"),
    ] {
        assert_eq!(
            CUBLASLT.number(number_type),
            Some(number(NVIDIA, &format!("CUDA_R_{name}"))),
            "{name}"
        );
    }
    assert_eq!(
        [E4m3Fnuz, E5m2Fnuz].map(|number| CUBLASLT.number(number)),
        [None; 2]
    );
}

#[test]
fn numbers_of_the_simulated_hipblaslt_are_those_of_its_headers() {
    let numbers = [
        (simulated_lt::OP_N, "HIPBLAS_OP_N"),
        (simulated_lt::OP_T, "HIPBLAS_OP_T"),
        (simulated_lt::COMPUTE_32F, "HIPBLAS_COMPUTE_32F"),
        (
            simulated_lt::COMPUTE_32F_FAST_TF32,
            "HIPBLAS_COMPUTE_32F_FAST_TF32",
        ),
        (simulated_lt::COMPUTE_32I, "HIPBLAS_COMPUTE_32I"),
        (simulated_lt::R_8I, "HIP_R_8I"),
        (simulated_lt::R_32I, "HIP_R_32I"),
        (simulated_lt::R_8F_E4M3_FNUZ, "HIP_R_8F_E4M3_FNUZ"),
        (simulated_lt::R_8F_E5M2_FNUZ, "HIP_R_8F_E5M2_FNUZ"),
        (
            simulated_lt::DESC_EPILOGUE,
            "HIPBLASLT_MATMUL_DESC_EPILOGUE",
        ),
        (
            simulated_lt::DESC_BIAS_POINTER,
            "HIPBLASLT_MATMUL_DESC_BIAS_POINTER",
        ),
        (
            simulated_lt::DESC_BIAS_DATA_TYPE,
            "HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE",
        ),
        (
            simulated_lt::DESC_A_SCALE_POINTER,
            "HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER",
        ),
        (
            simulated_lt::DESC_B_SCALE_POINTER,
            "HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER",
        ),
        (simulated_lt::R_32F, "HIP_R_32F"),
        (simulated_lt::R_16F, "HIP_R_16F"),
        (simulated_lt::R_16BF, "HIP_R_16BF"),
        (simulated_lt::DESC_TRANSA, "HIPBLASLT_MATMUL_DESC_TRANSA"),
        (simulated_lt::DESC_TRANSB, "HIPBLASLT_MATMUL_DESC_TRANSB"),
        (
            simulated_lt::LAYOUT_BATCH_COUNT,
            "HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT",
        ),
        (
            simulated_lt::LAYOUT_STRIDED_BATCH_OFFSET,
            "HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET",
        ),
        (
            simulated_lt::PREF_MAX_WORKSPACE_BYTES,
            "HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES",
        ),
    ];
    numbers
        .iter()
        .for_each(|(own, name)| assert_eq!(*own, amd(name), "{name}"));
    let epilogues = [
        (simulated_lt::EPILOGUE_DEFAULT, "DEFAULT"),
        (simulated_lt::EPILOGUE_RELU, "RELU"),
        (simulated_lt::EPILOGUE_BIAS, "BIAS"),
        (simulated_lt::EPILOGUE_RELU_BIAS, "RELU_BIAS"),
        (simulated_lt::EPILOGUE_GELU, "GELU"),
        (simulated_lt::EPILOGUE_GELU_BIAS, "GELU_BIAS"),
    ];
    epilogues.iter().for_each(|(own, name)| {
        assert_eq!(
            own.cast_signed(),
            amd(&format!("HIPBLASLT_EPILOGUE_{name}"))
        )
    });
    let structures = declared(AMD, "struct");
    let bytes = |name: &str| structures[name][0].parse::<usize>().expect("is a number");
    assert_eq!(
        size_of::<simulated_lt::MatmulAlgorithm>(),
        bytes("hipblasLtMatmulAlgo_t")
    );
    assert_eq!(
        size_of::<simulated_lt::HeuristicResult>(),
        bytes("hipblasLtMatmulHeuristicResult_t")
    );
}

#[test]
fn signatures_are_those_of_the_headers() {
    let functions: BTreeMap<&str, Vec<&str>> = [AMD, NVIDIA]
        .iter()
        .flat_map(|table| declared(table, "function"))
        .collect();
    let own = signatures();
    assert_eq!(own.len(), 109);
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

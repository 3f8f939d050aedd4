//! Numbers and structure sizes of cuBLASLt, hipBLASLt and the simulated hipBLASLt.

use super::{AMD, NVIDIA, amd, declared, number};
use hip_sim_hipblaslt::numbers as simulated_lt;
use testgen_libraries::{
    CUBLAS_SUMS_IN_SINGLE, CUBLASLT, ComputeType, Dialect, Epilogue, HIPBLASLT, NumberType,
};

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

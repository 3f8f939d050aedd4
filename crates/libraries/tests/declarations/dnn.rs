//! The numbers and structures of MIOpen 3.3.0 and cuDNN 9.6.0.

use super::{AMD, NVIDIA, amd, declared, number};
use hip_sim_miopen::numbers as simulated;
use testgen_libraries::{
    ComputeType, CudnnNumbers, CudnnPerformance, MiopenNumbers, MiopenSolution, NamedNumber,
    PoolKind, PrimitiveActivation, PrimitiveNormKind, PrimitiveNumbers, PrimitiveReduction,
};
use testgen_operators::calls::Element;

const FLOATS: [Element; 3] = [Element::F16, Element::F32, Element::Bf16];

fn bytes(table: &str, name: &str) -> usize {
    declared(table, "struct")[name][0]
        .parse()
        .expect("is a number")
}

#[test]
fn numbers_of_miopen_are_those_of_its_header() {
    let modes = ["miopenConvolution", "miopenTranspose"].map(amd);
    assert_eq!(MiopenNumbers::MODES, modes);
    assert_eq!([simulated::CONVOLUTION, simulated::TRANSPOSE], modes);
    let types = ["miopenHalf", "miopenFloat", "miopenBFloat16"].map(amd);
    assert_eq!(FLOATS.map(MiopenNumbers::number), types.map(Some));
    assert_eq!(
        [simulated::HALF, simulated::FLOAT, simulated::BFLOAT16],
        types
    );
    assert_eq!(MiopenNumbers::number(Element::I32), None);
    for (own, name) in MiopenNumbers::ALGORITHMS {
        assert_eq!(*own, amd(&format!("miopenConvolutionAlgo{name}")), "{name}");
    }
    let transforms = ["miopenConvolutionAlgoFFT", "miopenConvolutionAlgoWinograd"].map(amd);
    assert_eq!(MiopenNumbers::TRANSFORMS, transforms);
    for (own, name) in [
        (simulated::ALGORITHM_GEMM, "GEMM"),
        (simulated::ALGORITHM_DIRECT, "Direct"),
        (simulated::ALGORITHM_WINOGRAD, "Winograd"),
    ] {
        assert_eq!(own, amd(&format!("miopenConvolutionAlgo{name}")), "{name}");
    }
}

#[test]
fn numbers_of_the_simulated_primitives_are_those_of_its_header() {
    let algorithms = ["FAST", "ACCURATE", "LOG"].map(|name| amd(&format!("MIOPEN_SOFTMAX_{name}")));
    assert_eq!(simulated::SOFTMAX_ALGORITHMS, algorithms);
    let modes = ["INSTANCE", "CHANNEL"].map(|name| amd(&format!("MIOPEN_SOFTMAX_MODE_{name}")));
    assert_eq!(simulated::SOFTMAX_MODES, modes);
    let activations = ["LOGISTIC", "TANH", "RELU", "CLIPPEDRELU"];
    let activations = activations.map(|name| amd(&format!("miopenActivation{name}")));
    assert_eq!(simulated::ACTIVATIONS, activations);
    let pools = ["Max", "Average", "AverageInclusive"];
    let pools = pools.map(|name| amd(&format!("miopenPooling{name}")));
    assert_eq!(simulated::POOLS, pools);
    let norms = ["PerActivation", "Spatial"].map(|name| amd(&format!("miopenBN{name}")));
    assert_eq!(simulated::BATCH_NORMS, norms);
    let norms = ["ELEMENTWISE_AFFINE", "WEIGHT_BIAS"];
    let of_t5 = norms.map(|name| amd(&format!("MIOPEN_{name}_T5")));
    let norms = norms.map(|name| amd(&format!("MIOPEN_{name}")));
    assert_eq!([simulated::NORMS, simulated::T5_NORMS], [norms, of_t5]);
    let reductions = ["ADD", "MUL", "MIN", "MAX", "AMAX", "AVG", "NORM1", "NORM2"];
    let reductions = reductions.map(|name| amd(&format!("MIOPEN_REDUCE_TENSOR_{name}")));
    assert_eq!(simulated::REDUCTIONS, reductions);
    assert_eq!(simulated::PROPAGATE_NAN, amd("MIOPEN_PROPAGATE_NAN"));
}

#[test]
fn statuses_of_miopen_are_those_of_its_header() {
    for (code, name) in MiopenNumbers::STATUSES {
        assert_eq!(*code, amd(name), "{name}");
    }
    let unsupported = ["miopenStatusNotImplemented", "miopenStatusUnsupportedOp"].map(amd);
    assert_eq!(MiopenNumbers::UNSUPPORTED, unsupported);
    use simulated::MiopenStatus;
    for (status, name) in [
        (MiopenStatus::BadParm, "miopenStatusBadParm"),
        (MiopenStatus::InternalError, "miopenStatusInternalError"),
        (MiopenStatus::NotImplemented, "miopenStatusNotImplemented"),
    ] {
        assert_eq!(status as i32, amd(name), "{name}");
    }
}

/// The numbers with the names of a header that begin with `prefix`.
fn assert_named(table: &str, prefix: &str, named: &[NamedNumber]) {
    for (own, name) in named {
        assert_eq!(*own, number(table, &format!("{prefix}{name}")), "{name}");
    }
}

#[test]
fn numbers_of_softmax_and_reductions_are_those_of_both_headers() {
    let reductions = [
        PrimitiveReduction::Sum,
        PrimitiveReduction::Product,
        PrimitiveReduction::Min,
        PrimitiveReduction::Max,
        PrimitiveReduction::LargestMagnitude,
        PrimitiveReduction::Mean,
        PrimitiveReduction::Norm1,
        PrimitiveReduction::Norm2,
    ];
    for (table, vendor) in [(AMD, "MIOPEN"), (NVIDIA, "CUDNN")] {
        let algorithms = [
            PrimitiveNumbers::SOFTMAX_FAST,
            PrimitiveNumbers::SOFTMAX_ACCURATE,
            PrimitiveNumbers::SOFTMAX_LOG,
        ];
        assert_named(table, &format!("{vendor}_SOFTMAX_"), &algorithms);
        let modes = [PrimitiveNumbers::INSTANCE, PrimitiveNumbers::CHANNEL];
        assert_named(table, &format!("{vendor}_SOFTMAX_MODE_"), &modes);
        let operations = reductions.map(PrimitiveNumbers::reduction);
        assert_named(table, &format!("{vendor}_REDUCE_TENSOR_"), &operations);
        let others = [
            (PrimitiveNumbers::PROPAGATE_NAN, "PROPAGATE_NAN"),
            (PrimitiveNumbers::NO_INDICES, "REDUCE_TENSOR_NO_INDICES"),
            (PrimitiveNumbers::INDICES_32BIT, "32BIT_INDICES"),
        ];
        assert_named(table, &format!("{vendor}_"), &others);
    }
}

#[test]
fn modes_of_activations_pools_and_norms_are_those_of_the_headers() {
    assert_named(NVIDIA, "CUDNN_BATCHNORM_", &CudnnNumbers::BATCH_NORMS);
    assert_named(AMD, "miopenBN", &MiopenNumbers::BATCH_NORMS);
    for kind in [
        PrimitiveNormKind::Layer,
        PrimitiveNormKind::Group { groups: 2 },
        PrimitiveNormKind::RootMeanSquare,
    ] {
        assert_named(AMD, "MIOPEN_", &MiopenNumbers::norms(kind));
    }
    let activations = [
        PrimitiveActivation::Relu,
        PrimitiveActivation::Relu6,
        PrimitiveActivation::Sigmoid,
        PrimitiveActivation::Tanh,
        PrimitiveActivation::Silu,
    ];
    let own = activations.map(CudnnNumbers::activation);
    assert_named(NVIDIA, "CUDNN_ACTIVATION_", &own);
    let own: Vec<NamedNumber> = activations
        .into_iter()
        .filter_map(MiopenNumbers::activation)
        .collect();
    assert_eq!(own.len(), 4);
    assert_named(AMD, "miopenActivation", &own);
    for number in [PoolKind::Max, PoolKind::Mean, PoolKind::MeanWithPadding] {
        assert_named(NVIDIA, "CUDNN_POOLING_", CudnnNumbers::pools(number));
        assert_named(AMD, "miopenPooling", MiopenNumbers::pools(number));
    }
}

#[test]
fn structures_have_the_size_of_the_published_ones() {
    let solution = bytes(AMD, "miopenConvSolution_t");
    assert_eq!(size_of::<MiopenSolution>(), solution);
    assert_eq!(size_of::<simulated::ConvolutionSolution>(), solution);
    for name in ["Fwd", "BwdData"] {
        let published = bytes(NVIDIA, &format!("cudnnConvolution{name}AlgoPerf_t"));
        assert_eq!(size_of::<CudnnPerformance>(), published, "{name}");
    }
}

#[test]
fn numbers_of_cudnn_are_those_of_its_headers() {
    let named = |name: &str| number(NVIDIA, &format!("CUDNN_{name}"));
    let types = ["DATA_HALF", "DATA_FLOAT", "DATA_BFLOAT16"].map(named);
    assert_eq!(FLOATS.map(CudnnNumbers::number), types.map(Some));
    assert_eq!(CudnnNumbers::number(Element::Bool), None);
    for (own, name) in [
        (CudnnNumbers::FLOAT, "DATA_FLOAT"),
        (CudnnNumbers::FORMATS[0], "TENSOR_NCHW"),
        (CudnnNumbers::FORMATS[1], "TENSOR_NHWC"),
        (CudnnNumbers::CROSS_CORRELATION, "CROSS_CORRELATION"),
        (CudnnNumbers::DETERMINISTIC, "DETERMINISTIC"),
        (CudnnNumbers::TENSOR_OP_MATH, "TENSOR_OP_MATH"),
        (CudnnNumbers::FMA_MATH, "FMA_MATH"),
    ] {
        assert_eq!(own, named(name), "{name}");
    }
    let f32_alone = CudnnNumbers::math(Element::F32, ComputeType::F32);
    assert_eq!(f32_alone, CudnnNumbers::FMA_MATH);
    for (element, compute) in [
        (Element::F32, ComputeType::Tf32),
        (Element::F16, ComputeType::F32),
        (Element::Bf16, ComputeType::F32),
    ] {
        let math = CudnnNumbers::math(element, compute);
        assert_eq!(math, CudnnNumbers::TENSOR_OP_MATH);
    }
}

#[test]
fn algorithms_and_statuses_of_cudnn_are_those_of_its_headers() {
    for (names, kind) in [
        (&CudnnNumbers::FORWARD[..], "FWD"),
        (&CudnnNumbers::BACKWARD_DATA, "BWD_DATA"),
    ] {
        let named = |name: &str| number(NVIDIA, &format!("CUDNN_CONVOLUTION_{kind}_ALGO_{name}"));
        assert_eq!(names.len() as i32, named("COUNT"));
        for (index, name) in names.iter().enumerate() {
            assert_eq!(index as i32, named(name), "{kind} {name}");
        }
    }
    let enums = declared(NVIDIA, "enum");
    let unsupported: Vec<&&str> = enums
        .keys()
        .filter(|name| name.starts_with("CUDNN_STATUS_NOT_SUPPORTED"))
        .collect();
    assert_eq!(unsupported.len(), 14);
    for name in unsupported {
        assert!(CudnnNumbers::is_unsupported(number(NVIDIA, name)), "{name}");
    }
    // Success, BAD_PARAM and EXECUTION_FAILED of cuDNN 8 and 9.
    for code in [0, 3, 8, 2000, 5000] {
        assert!(!CudnnNumbers::is_unsupported(code), "{code}");
    }
}

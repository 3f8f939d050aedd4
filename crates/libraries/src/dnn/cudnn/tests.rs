//! The calls of cuDNN's functions, received by a fake library, and what its answers become.

use super::{Cudnn, CudnnPerformance, algorithm, fake, fake_primitives, version};
use crate::{
    convolution_library::{ConvolutionBuffers, ConvolutionLibrary},
    convolution_problem::ConvolutionProblem,
    gpu::{DeviceAddress, NoGpu},
    library_error::LibraryError,
    primitive::PrimitiveProblem,
    primitive_library::{PrimitiveBuffers, PrimitiveLibrary},
};
use std::{ptr::null_mut, rc::Rc};
use testgen_operators::{
    calls::Element,
    cases::{cases, odd_sizes},
};
use testgen_types::{Operator, Precision};

fn library() -> Cudnn {
    // Another test may have run on this thread.
    fake::fail(0);
    fake::calls();
    Cudnn {
        gpu: Rc::new(NoGpu::default()),
        functions: fake::functions(),
        primitives: fake_primitives::functions(),
        handle: null_mut(),
        version: String::new(),
    }
}

/// The problem of the variant with groups, channels last in f16.
fn problem(operator: Operator) -> ConvolutionProblem {
    let case = cases(operator, &[2, 3, 4, 5, 6, 3], Element::F16).remove(2);
    ConvolutionProblem {
        channels_last: true,
        ..ConvolutionProblem::of_call(&case.call, Precision::F16).expect("is a convolution")
    }
}

const BUFFERS: ConvolutionBuffers = ConvolutionBuffers {
    x: DeviceAddress(0x1000),
    weight: DeviceAddress(0x2000),
    y: DeviceAddress(0x3000),
    workspace: DeviceAddress(0x4000),
};

#[test]
fn a_convolution_is_described_and_computed() {
    let (library, problem) = (library(), problem(Operator::Conv2d));
    let algorithms = library.algorithms(&problem).expect("are listed");
    assert_eq!(
        fake::calls(),
        [
            "tensor 1: type 2 lengths [2, 6, 5, 6] strides [180, 1, 36, 6]",
            "tensor 2: type 2 lengths [2, 8, 5, 6] strides [240, 1, 48, 8]",
            "filter 3: type 2 format 1 lengths [8, 3, 3, 3]",
            "windows 4: padding [1, 1] stride [1, 1] dilation [1, 1] mode 1 type 0",
            "groups of 4: 2",
            "math of 4: 1",
            "list forward: x 1 weight 3 windows 4 y 2",
            "destroy 1",
            "destroy 2",
            "destroy 3",
            "destroy 4",
        ]
    );
    // The fake library lists three algorithms and refuses one.
    let names: Vec<&str> = algorithms.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(names, ["IMPLICIT_GEMM TENSOR_OP", "WINOGRAD FMA"]);
    library
        .run(&problem, &algorithms[1], BUFFERS)
        .expect("is computed");
    let calls = fake::calls();
    assert!(calls.contains(&"math of 4: 3".to_owned()), "{calls:?}");
    let computed = "forward: alpha 1 x 1 at 0x1000 weight 3 at 0x2000 windows 4 algorithm 6 workspace 0x4000 of 64 beta 0 y 2 at 0x3000";
    assert!(calls.contains(&computed.to_owned()), "{calls:?}");
}

#[test]
fn a_transposed_convolution_is_a_gradient() {
    let (library, problem) = (library(), problem(Operator::ConvTranspose2d));
    let algorithms = library.algorithms(&problem).expect("are listed");
    let list = "list backward: weight 3 dy 1 windows 4 dx 2";
    assert!(fake::calls().contains(&list.to_owned()));
    library
        .run(&problem, &algorithms[0], BUFFERS)
        .expect("is computed");
    let computed = "backward: alpha 1 weight 3 at 0x2000 dy 1 at 0x1000 windows 4 algorithm 0 workspace 0x4000 of 64 beta 0 dx 2 at 0x3000";
    let calls = fake::calls();
    assert!(calls.contains(&computed.to_owned()), "{calls:?}");
}

/// The calls of the first algorithm of an operator's first case, in f32, after the descriptors of
/// its tensors.
fn primitive_calls(operator: Operator) -> Vec<String> {
    let library = library();
    let sizes = odd_sizes(operator);
    let case = cases(operator, &sizes, Element::F32).remove(0);
    let problem = PrimitiveProblem::of_call(&case.call).expect("is an operator");
    let algorithms = library.primitive_algorithms(&problem).expect("are listed");
    fake::calls();
    let buffers = PrimitiveBuffers {
        x: DeviceAddress(0x1000),
        parameters: &[0x4000, 0x5000, 0x6000, 0x7000].map(DeviceAddress),
        y: DeviceAddress(0x2000),
        workspace: DeviceAddress(0x3000),
    };
    library
        .run_primitive(&problem, &algorithms[0], buffers)
        .expect("is computed");
    let calls = fake::calls();
    assert!(calls[0].starts_with("tensor 1: type 0"), "{calls:?}");
    assert!(calls[1].starts_with("tensor 2: type 0"), "{calls:?}");
    let own = calls[2..].iter();
    own.filter(|call| !call.starts_with("destroy"))
        .cloned()
        .collect()
}

#[test]
fn operators_on_one_tensor_are_described_and_computed() {
    let tensors = "alpha 1 x 1 at 0x1000 beta 0 y 2 at 0x2000";
    assert_eq!(
        primitive_calls(Operator::Softmax),
        [format!("softmax: algorithm 1 mode 0 {tensors}")]
    );
    assert_eq!(
        primitive_calls(Operator::Relu6),
        [
            "activation 3: mode 3 nan 1 argument 6".to_owned(),
            format!("activation: 3 {tensors}"),
        ]
    );
    assert_eq!(
        primitive_calls(Operator::Silu),
        [
            "activation 3: mode 6 nan 1 argument 6".to_owned(),
            "swish of 3: 1".to_owned(),
            format!("activation: 3 {tensors}"),
        ]
    );
    assert_eq!(
        primitive_calls(Operator::MaxPool2d),
        [
            "pool 3: mode 0 nan 1 lengths [3, 3] padding [0, 0] stride [3, 3]".to_owned(),
            format!("pool: 3 {tensors}"),
        ]
    );
    assert_eq!(
        primitive_calls(Operator::Mean),
        [
            "reduction 3: operation 5 type 0 nan 1 indices 0 0".to_owned(),
            format!("reduce: 3 workspace 0x3000 of 96 {tensors}"),
        ]
    );
}

#[test]
fn a_batch_norm_has_parameters_for_each_channel() {
    assert_eq!(
        primitive_calls(Operator::BatchNorm),
        [
            "tensor 3: type 0 lengths [1, 3, 1, 1] strides [3, 1, 1, 1]",
            "batch norm: mode 1 alpha 1 x 1 at 0x1000 beta 0 y 2 at 0x2000 parameters 3 weight 0x4000 bias 0x5000 mean 0x6000 variance 0x7000 epsilon 0.00001",
        ]
    );
    let case = cases(Operator::BatchNorm, &[2, 3, 1], Element::F32).remove(0);
    let problem = PrimitiveProblem::of_call(&case.call).expect("is a norm");
    let algorithms = library().primitive_algorithms(&problem);
    let names: Vec<String> = algorithms
        .expect("are listed")
        .into_iter()
        .map(|algorithm| algorithm.id)
        .collect();
    assert_eq!(names, ["SPATIAL", "PER_ACTIVATION"]);
}

#[test]
fn a_norm_by_the_statistics_of_the_elements_is_not_offered() {
    for operator in [Operator::LayerNorm, Operator::GroupNorm, Operator::RmsNorm] {
        let case = cases(operator, &odd_sizes(operator), Element::F32).remove(0);
        let problem = PrimitiveProblem::of_call(&case.call).expect("is a norm");
        let error = library().primitive_algorithms(&problem).err();
        let is_unsupported = matches!(&error, Some(LibraryError::Unsupported { .. }));
        assert!(is_unsupported, "{operator}: {error:?}");
    }
}

#[test]
fn a_reduction_of_single_elements_is_not_offered() {
    let library = library();
    let case = cases(Operator::Sum, &[3, 1], Element::F32).remove(0);
    let problem = PrimitiveProblem::of_call(&case.call).expect("is a reduction");
    let error = library.primitive_algorithms(&problem).err();
    let is_unsupported = matches!(&error, Some(LibraryError::Unsupported { .. }));
    assert!(is_unsupported, "{error:?}");
}

#[test]
fn a_status_has_the_name_of_the_library() {
    let (library, problem) = (library(), problem(Operator::Conv2d));
    fake::fail(8);
    let error = library.algorithms(&problem).err();
    let is_named = matches!(&error, Some(LibraryError::Status { function, code: 8, name })
        if function == "cudnnCreateTensorDescriptor" && name == "FAKE_STATUS");
    assert!(is_named, "{error:?}");
    fake::fail(3003);
    assert_eq!(library.algorithms(&problem), Ok(Vec::new()));
}

#[test]
fn versions_are_decoded() {
    assert_eq!([version(90_600), version(8902)], ["9.6.0", "8.9.2"]);
}

#[test]
fn algorithms_that_the_library_refuses_are_left_out() {
    let found = CudnnPerformance {
        algorithm: 1,
        math: 3,
        determinism: 1,
        memory: 64,
        ..CudnnPerformance::default()
    };
    let offered = algorithm(false, &found).expect("is offered");
    assert_eq!(offered.id, "IMPLICIT_PRECOMP_GEMM FMA");
    assert!(offered.deterministic && !offered.transforms);
    let transposed = CudnnPerformance {
        algorithm: 4,
        math: 1,
        ..found
    };
    let offered = algorithm(true, &transposed).expect("is offered");
    assert_eq!(
        (offered.id.as_str(), offered.transforms),
        ("WINOGRAD TENSOR_OP", true)
    );
    let refused = CudnnPerformance {
        status: 3000,
        ..found
    };
    assert_eq!(algorithm(false, &refused), None);
}

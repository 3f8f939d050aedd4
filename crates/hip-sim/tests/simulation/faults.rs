//! Injected faults as the HIP runtime shows them. How harnesses report them is tested in
//! fault_tests.

use crate::test_device::TestDevice;
use hip_sim::{Dim3, HipError};

const DOUBLE: &str = "extern \"C\" __global__ void kernel(float* input, float* output) {
  output[threadIdx.x] = 2 * input[threadIdx.x];
}";

fn double(device: &TestDevice) -> Result<Vec<f32>, HipError> {
    let mut buffers = [
        (1..=8).map(|value| value as f32).collect(),
        vec![0.0_f32; 8],
    ];
    device.run(DOUBLE, Dim3::new(1, 1, 1), Dim3::new(8, 1, 1), &mut buffers)?;
    let [_, output] = buffers;
    Ok(output)
}

/// The number of wrong elements.
fn wrong(output: &[f32]) -> usize {
    output
        .iter()
        .enumerate()
        .filter(|(index, value)| **value != 2.0 * (*index as f32 + 1.0))
        .count()
}

#[test]
fn without_faults_the_result_is_correct() {
    assert_eq!(wrong(&double(&TestDevice::with(&[])).unwrap()), 0);
}

#[test]
fn one_element_is_corrupted() {
    for fault in ["wrong=kernel", "nan=", "0/wrong=ker"] {
        assert_eq!(
            wrong(&double(&TestDevice::faulty(fault)).unwrap()),
            1,
            "{fault}"
        );
    }
    for fault in ["wrong=other", "1/wrong=kernel"] {
        assert_eq!(
            wrong(&double(&TestDevice::faulty(fault)).unwrap()),
            0,
            "{fault}"
        );
    }
}

#[test]
fn calls_fail_with_the_status_of_their_fault() {
    for (fault, status) in [
        ("allocate=2", HipError::OutOfMemory),
        ("load=kernel", HipError::NotFound),
        ("launch=kernel", HipError::LaunchFailure),
        ("copy=2", HipError::Unknown),
        ("no-device", HipError::NoDevice),
    ] {
        assert_eq!(
            double(&TestDevice::faulty(fault)).unwrap_err(),
            status,
            "{fault}"
        );
    }
    let error = TestDevice::faulty("compile=kern")
        .compile(DOUBLE)
        .unwrap_err();
    assert!(error.contains("injected"), "{error}");
}

#[test]
fn the_size_of_a_source_can_be_limited() {
    let limited = |bytes: usize| TestDevice::with(&[("HIP_SIM_LONGEST", &bytes.to_string())]);
    assert!(limited(100_000).compile(DOUBLE).is_ok());
    let error = limited(20).compile(DOUBLE).unwrap_err();
    assert!(error.contains("HIP_SIM_LONGEST"), "{error}");
}

#[test]
fn an_idle_kernel_writes_nothing_and_a_leak_keeps_memory() {
    assert_eq!(
        double(&TestDevice::faulty("idle=kernel")).unwrap(),
        [0.0; 8]
    );
    let leaky = TestDevice::faulty("leak");
    let (before, _) = leaky.simulator.memory_info(0).unwrap();
    double(&leaky).unwrap();
    let (after, _) = leaky.simulator.memory_info(0).unwrap();
    assert_eq!(before - after, 2 * 8 * 4);
}

#[test]
fn dirty_memory_is_nan() {
    let device = TestDevice::faulty("dirty");
    let pointer = device.simulator.allocate(0, 16).unwrap();
    let mut values = [0.0_f32; 4];
    // SAFETY: the array is 16 bytes long.
    unsafe {
        device
            .simulator
            .copy_to_host(0, values.as_mut_ptr().cast(), pointer, 16)
    }
    .unwrap();
    assert!(values.iter().all(|value| value.is_nan()), "{values:?}");
}

#[test]
fn a_device_can_report_wrong_properties() {
    let device = TestDevice::faulty("architecture=gfx950,wave=32,memory-info");
    let properties = device.simulator.properties(0).unwrap();
    assert_eq!(
        properties.gcn_arch_name[..7],
        *b"gfx950\0".map(|byte| byte as std::ffi::c_char).as_slice()
    );
    assert_eq!(properties.warp_size, 32);
    assert_eq!(device.simulator.memory_info(0), Err(HipError::InvalidValue));
}

#[test]
fn a_launch_out_of_range_is_an_error() {
    for (grid, block) in [
        ((0, 1, 1), (1, 1, 1)),
        ((1, 1, 1), (1025, 1, 1)),
        ((1, 1, 1), (32, 33, 1)),
    ] {
        let extent = |(x, y, z)| Dim3::new(x, y, z);
        let mut buffers = [vec![0.0_f32; 8], vec![0.0; 8]];
        let result = TestDevice::with(&[]).run(DOUBLE, extent(grid), extent(block), &mut buffers);
        assert_eq!(result, Err(HipError::InvalidValue), "{grid:?} {block:?}");
    }
}

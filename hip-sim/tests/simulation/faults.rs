//! Faults as the runtime shows them; what a harness makes of them is tested with burn.

use crate::laboratory::Laboratory;
use hip_sim::{Extent, Status};

const DOUBLE: &str = "extern \"C\" __global__ void kernel(float* input, float* output) {
  output[threadIdx.x] = 2 * input[threadIdx.x];
}";

fn double(laboratory: &Laboratory) -> Result<Vec<f32>, Status> {
    let mut buffers = [(1..=8).map(|value| value as f32).collect(), vec![0.0_f32; 8]];
    laboratory.run(DOUBLE, Extent::new(1, 1, 1), Extent::new(8, 1, 1), &mut buffers)?;
    let [_, output] = buffers;
    Ok(output)
}

/// Elements that are not what they ought to be.
fn wrong(output: &[f32]) -> usize {
    output.iter().enumerate().filter(|(index, value)| **value != 2.0 * (*index as f32 + 1.0)).count()
}

#[test]
fn without_faults_all_is_well() {
    assert_eq!(wrong(&double(&Laboratory::with(&[])).unwrap()), 0);
}

#[test]
fn one_element_is_damaged() {
    for fault in ["wrong=kernel", "nan=", "0/wrong=ker"] {
        assert_eq!(wrong(&double(&Laboratory::faulty(fault)).unwrap()), 1, "{fault}");
    }
    for fault in ["wrong=other", "1/wrong=kernel"] {
        assert_eq!(wrong(&double(&Laboratory::faulty(fault)).unwrap()), 0, "{fault}");
    }
}

#[test]
fn calls_fail_as_they_were_told() {
    for (fault, status) in [
        ("allocate=2", Status::OutOfMemory),
        ("load=kernel", Status::NotFound),
        ("launch=kernel", Status::LaunchFailure),
        ("copy=2", Status::Unknown),
        ("no-device", Status::NoDevice),
    ] {
        assert_eq!(double(&Laboratory::faulty(fault)).unwrap_err(), status, "{fault}");
    }
    let refusal = Laboratory::faulty("compile=kern").compile(DOUBLE).unwrap_err();
    assert!(refusal.contains("on demand"), "{refusal}");
}

#[test]
fn a_text_may_be_too_long() {
    let longest = |bytes: usize| Laboratory::with(&[("HIP_SIM_LONGEST", &bytes.to_string())]);
    assert!(longest(100_000).compile(DOUBLE).is_ok());
    let refusal = longest(20).compile(DOUBLE).unwrap_err();
    assert!(refusal.contains("HIP_SIM_LONGEST"), "{refusal}");
}

#[test]
fn an_idle_kernel_writes_nothing_and_a_leak_keeps_memory() {
    assert_eq!(double(&Laboratory::faulty("idle=kernel")).unwrap(), [0.0; 8]);
    let leaky = Laboratory::faulty("leak");
    let (before, _) = leaky.simulator.memory_info(0).unwrap();
    double(&leaky).unwrap();
    let (after, _) = leaky.simulator.memory_info(0).unwrap();
    assert_eq!(before - after, 2 * 8 * 4);
}

#[test]
fn dirty_memory_is_nan() {
    let laboratory = Laboratory::faulty("dirty");
    let pointer = laboratory.simulator.allocate(0, 16).unwrap();
    let mut values = [0.0_f32; 4];
    // SAFETY: the array is 16 bytes long.
    unsafe { laboratory.simulator.copy_to_host(0, values.as_mut_ptr().cast(), pointer, 16) }.unwrap();
    assert!(values.iter().all(|value| value.is_nan()), "{values:?}");
}

#[test]
fn a_device_can_lie_about_itself() {
    let laboratory = Laboratory::faulty("architecture=gfx950,wave=32,memory-info");
    let properties = laboratory.simulator.properties(0).unwrap();
    assert_eq!(properties.gcn_arch_name[..7], *b"gfx950\0".map(|byte| byte as std::ffi::c_char).as_slice());
    assert_eq!(properties.warp_size, 32);
    assert_eq!(laboratory.simulator.memory_info(0), Err(Status::InvalidValue));
}

#[test]
fn a_launch_out_of_range_is_refused() {
    for (grid, block) in [((0, 1, 1), (1, 1, 1)), ((1, 1, 1), (1025, 1, 1)), ((1, 1, 1), (32, 33, 1))] {
        let extent = |(x, y, z)| Extent::new(x, y, z);
        let mut buffers = [vec![0.0_f32; 8], vec![0.0; 8]];
        let refused = Laboratory::with(&[]).run(DOUBLE, extent(grid), extent(block), &mut buffers);
        assert_eq!(refused, Err(Status::InvalidValue), "{grid:?} {block:?}");
    }
}

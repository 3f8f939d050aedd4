//! Arithmetic of one thread: half precision, integers, atomics.

use crate::test_device::TestDevice;
use hip_sim::{Dim3, SimulatedArchitecture};

/// Every f16, as bits.
fn every_half() -> Vec<u16> {
    (0..=u16::MAX).collect()
}

#[test]
fn conversions_from_f32_round_to_the_nearest_even_half() {
    let text = "extern \"C\" __global__ void kernel(float* data) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = (float)__half(data[i]);
}";
    // Halfway between two halves, a little above, a little below, subnormal, too large.
    let values: Vec<f32> = vec![
        2049.0, 2051.0, 2049.1, 2050.9, 5.96e-8, 2.98e-8, 2.99e-8, 6e-5, 65519.0, 65520.0, -0.0,
        0.1,
    ];
    let expected = [
        2048.0,
        2052.0,
        2050.0,
        2050.0,
        5.960_464_5e-8,
        0.0,
        5.960_464_5e-8,
        6.002_187_7e-5,
        65504.0,
        f32::INFINITY,
        -0.0,
        0.099_975_586,
    ];
    let count = values.len() as u32;
    let rounded =
        TestDevice::new(SimulatedArchitecture::Gfx1100).block(text, count, values.clone());
    for ((value, rounded), expected) in values.iter().zip(&rounded).zip(expected) {
        assert_eq!(
            rounded.to_bits(),
            f32::to_bits(expected),
            "{value} became {rounded}, expected {expected}"
        );
    }
}

#[test]
fn every_half_survives_a_round_trip() {
    let text = "extern \"C\" __global__ void kernel(unsigned short* data) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  __half h; memcpy(&h, data + i, 2);
  h = __half((float)h); memcpy(data + i, &h, 2);
}";
    let mut buffers = [every_half()];
    TestDevice::new(SimulatedArchitecture::Gfx90a)
        .run(
            text,
            Dim3::new(64, 1, 1),
            Dim3::new(1024, 1, 1),
            &mut buffers,
        )
        .unwrap();
    for (before, after) in every_half().into_iter().zip(&buffers[0]) {
        let is_nan = before & 0x7fff > 0x7c00;
        assert!(
            before == *after || (is_nan && after & 0x7fff > 0x7c00),
            "{before:#06x} became {after:#06x}"
        );
    }
}

#[test]
fn bfloat16_rounds_to_the_nearest_even() {
    let text = "extern \"C\" __global__ void kernel(float* data) {
  unsigned i = threadIdx.x;
  data[i] = (float)(__hip_bfloat16(data[i]) + __hip_bfloat16(1.0f));
}";
    let sums = TestDevice::new(SimulatedArchitecture::Gfx1100).block(
        text,
        4,
        vec![256.0_f32, 255.0, 0.003, f32::INFINITY],
    );
    // Eight bits of mantissa: 257 is halfway between 256 and 258.
    assert_eq!(sums, [256.0, 256.0, 1.0, f32::INFINITY]);
}

#[test]
fn faults_of_half_precision_change_results() {
    let text = "extern \"C\" __global__ void kernel(float* data) { data[threadIdx.x] = (float)__half(data[threadIdx.x]); }";
    let values = vec![6e-6_f32, 2049.9, 1.0];
    assert_eq!(
        TestDevice::faulty("half=flush").block(text, 3, values.clone()),
        [0.0, 2050.0, 1.0]
    );
    let truncated = TestDevice::faulty("half=truncate").block(text, 3, values);
    assert_eq!(truncated[1..], [2048.0, 1.0]);
}

#[test]
fn atomics_of_all_threads_add_up() {
    let text = "extern \"C\" __global__ void kernel(int* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&data[0], i); atomicMax(&data[1], i); atomicMin(&data[2], -i); atomicOr(&data[3], 1 << (i % 31));
  int seen = data[4], expected;
  do { expected = seen; seen = atomicCAS(&data[4], expected, expected + 2); } while (seen != expected);
}";
    let mut buffers = [vec![0_i32; 5]];
    TestDevice::new(SimulatedArchitecture::Gfx942)
        .run(text, Dim3::new(9, 1, 1), Dim3::new(111, 1, 1), &mut buffers)
        .unwrap();
    assert_eq!(buffers[0], [999 * 998 / 2, 998, -998, i32::MAX, 2 * 999]);
}

#[test]
fn integers_wrap_and_bits_are_counted() {
    let text = "extern \"C\" __global__ void kernel(unsigned* data) {
  unsigned v = data[0];
  data[1] = v + 1; data[2] = __popc(v); data[3] = __clz((int)(v >> 4)); data[4] = __umulhi(v, v);
  data[5] = __brev(1u); data[6] = __ffs(8u);
}";
    let results = TestDevice::new(SimulatedArchitecture::Gfx1030).block(text, 1, vec![u32::MAX; 7]);
    assert_eq!(results[1..], [0, 32, 4, u32::MAX - 1, 1 << 31, 4]);
}

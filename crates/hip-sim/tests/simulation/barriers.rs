//! Barriers of a block, in loops and after branches, and shared memory.

use crate::test_device::TestDevice;
use hip_sim::{Dim3, SimulatedArchitecture};

const EVERY: &[SimulatedArchitecture] = SimulatedArchitecture::ALL;

#[test]
fn a_tree_reduction_in_shared_memory_sums_blocks_of_any_size() {
    let text = "extern __shared__ unsigned char pool[];
extern \"C\" __global__ void kernel(float* data) {
  float* tile = (float*)pool;
  unsigned t = threadIdx.x, n = blockDim.x;
  tile[t] = data[blockIdx.x * n + t];
  __syncthreads();
  for (unsigned width = 1; width < n; width *= 2) {
    float other = (t % (2 * width) == 0 && t + width < n) ? tile[t + width] : 0.0f;
    __syncthreads();
    tile[t] += other;
    __syncthreads();
  }
  if (t == 0) data[blockIdx.x * n] = tile[0];
}";
    for (architecture, threads) in EVERY
        .iter()
        .flat_map(|architecture| [1_u32, 33, 100, 1000].map(|threads| (*architecture, threads)))
    {
        let device = TestDevice::new(architecture);
        let data: Vec<f32> = (0..3 * threads).map(|value| (value % 97) as f32).collect();
        let mut buffers = [data.clone()];
        device
            .run(
                text,
                Dim3::new(3, 1, 1),
                Dim3::new(threads, 1, 1),
                &mut buffers,
            )
            .unwrap();
        for (block, values) in data.chunks(threads as usize).enumerate() {
            let sum: f32 = values.iter().sum();
            assert_eq!(
                buffers[0][block * threads as usize],
                sum,
                "{architecture}, {threads} threads, block {block}"
            );
        }
    }
}

#[test]
fn a_prefix_sum_needs_a_barrier_in_each_round() {
    let text = "extern \"C\" __global__ void kernel(int* data) {
  __shared__ int line[2][256];
  unsigned t = threadIdx.x, side = 0;
  line[0][t] = data[t];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step <<= 1) {
    line[1 - side][t] = line[side][t] + (t >= step ? line[side][t - step] : 0);
    side = 1 - side;
    __syncthreads();
  }
  data[t] = line[side][t];
}";
    let sums =
        TestDevice::new(SimulatedArchitecture::Gfx1100).block(text, 256, (1..=256_i32).collect());
    let expected: Vec<i32> = (1..=256_i32)
        .scan(0, |sum, value| {
            *sum += value;
            Some(*sum)
        })
        .collect();
    assert_eq!(sums, expected);
}

#[test]
fn a_barrier_does_not_wait_for_threads_that_have_ended() {
    let text = "extern \"C\" __global__ void kernel(int* data) {
  __shared__ int seen[128];
  unsigned t = threadIdx.x;
  if (t >= 70) return;
  seen[t] = data[t];
  __syncthreads();
  data[t] = seen[69 - t];
}";
    let turned =
        TestDevice::new(SimulatedArchitecture::Gfx90a).block(text, 128, (0..128_i32).collect());
    let expected: Vec<i32> = (0..70).rev().chain(70..128).collect();
    assert_eq!(turned, expected);
}

#[test]
fn a_block_of_three_dimensions_counts_x_first() {
    let text = "extern \"C\" __global__ void kernel(int* data) {
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  __syncthreads();
  data[block * 24 + thread] = 100 * block + __shfl(thread, 0);
}";
    let mut buffers = [vec![-1_i32; 24 * 8]];
    let device = TestDevice::new(SimulatedArchitecture::Gfx1030);
    device
        .run(text, Dim3::new(2, 2, 2), Dim3::new(4, 3, 2), &mut buffers)
        .unwrap();
    let expected: Vec<i32> = (0..24 * 8).map(|index| 100 * (index / 24)).collect();
    assert_eq!(buffers[0], expected);
}

#[test]
fn uninitialised_shared_memory_is_nan() {
    let text = "extern __shared__ unsigned char pool[];
extern \"C\" __global__ void kernel(float* data) { data[threadIdx.x] = ((float*)pool)[threadIdx.x]; }";
    let values = TestDevice::new(SimulatedArchitecture::Gfx1100).block(text, 64, vec![0.0_f32; 64]);
    assert!(
        values.iter().all(|value| value.is_nan()),
        "uninitialised reads are NaN: {values:?}"
    );
}

#[test]
fn a_block_does_not_see_the_shared_memory_of_the_one_before() {
    let text = "extern __shared__ unsigned char pool[];
extern \"C\" __global__ void kernel(float* data) {
  float* tile = (float*)pool;
  unsigned t = threadIdx.x;
  if (blockIdx.x == 0) tile[t] = 1.0f;
  __syncthreads();
  data[blockIdx.x * blockDim.x + t] = tile[t];
}";
    let mut buffers = [vec![0.0_f32; 64]];
    let device = TestDevice::new(SimulatedArchitecture::Gfx1100);
    device
        .run(text, Dim3::new(2, 1, 1), Dim3::new(32, 1, 1), &mut buffers)
        .unwrap();
    let (first, second) = buffers[0].split_at(32);
    assert!(first.iter().all(|value| *value == 1.0), "{first:?}");
    assert!(second.iter().all(|value| value.is_nan()), "{second:?}");
}

//! Wave operations: shuffles, ballots, divergence.

use crate::test_device::TestDevice;
use hip_sim::SimulatedArchitecture;

fn lanes(architecture: SimulatedArchitecture) -> usize {
    architecture.wave_size() as usize
}

#[test]
fn a_butterfly_sums_each_wave() {
    let text = "extern \"C\" __global__ void kernel(float* data) {
  float sum = data[threadIdx.x];
  for (unsigned mask = 1; mask < warpSize; mask <<= 1) sum += __shfl_xor(sum, mask);
  data[threadIdx.x] = sum;
}";
    for architecture in SimulatedArchitecture::ALL {
        let values: Vec<f32> = (0..256).map(|value| (value * value % 31) as f32).collect();
        let sums = TestDevice::new(*architecture).block(text, 256, values.clone());
        for (wave, (sums, values)) in sums
            .chunks(lanes(*architecture))
            .zip(values.chunks(lanes(*architecture)))
            .enumerate()
        {
            let sum: f32 = values.iter().sum();
            assert!(
                sums.iter().all(|value| *value == sum),
                "{architecture}, wave {wave}: {sums:?}, expected {sum}"
            );
        }
    }
}

#[test]
fn shuffles_read_the_right_lanes() {
    let text = "extern \"C\" __global__ void kernel(int* data) {
  int t = threadIdx.x, n = blockDim.x;
  data[t] = __shfl(t, 3); data[n + t] = __shfl_up(t, 2); data[2 * n + t] = __shfl_down(t, 5);
}";
    let n = 64;
    let read = TestDevice::new(SimulatedArchitecture::Gfx1100).block(text, 64, vec![0_i32; 3 * 64]);
    for thread in 0..n {
        let (wave, lane) = (thread / 32 * 32, thread % 32);
        assert_eq!(read[thread], (wave + 3) as i32);
        assert_eq!(
            read[n + thread],
            (if lane < 2 { thread } else { thread - 2 }) as i32
        );
        assert_eq!(
            read[2 * n + thread],
            (if lane + 5 >= 32 { thread } else { thread + 5 }) as i32
        );
    }
}

#[test]
fn diverged_lanes_vote_among_themselves_and_reconverge() {
    let text = "extern \"C\" __global__ void kernel(unsigned long long* data) {
  unsigned t = threadIdx.x;
  unsigned long long bits;
  if (t % 3 == 0) bits = __ballot(t % 2 == 0);
  else bits = __ballot(true);
  data[t] = bits;
  data[blockDim.x + t] = __ballot(t > 5);
  data[2 * blockDim.x + t] = __any(t == 40) + 2 * __all(t >= 32);
}";
    let device = TestDevice::new(SimulatedArchitecture::Gfx90a);
    let votes = device.block(text, 64, vec![0_u64; 3 * 64]);
    let bits = |predicate: fn(u64) -> bool| {
        (0..64)
            .filter(|lane| predicate(*lane))
            .fold(0_u64, |bits, lane| bits | 1 << lane)
    };
    for lane in 0..64_u64 {
        let expected = if lane % 3 == 0 {
            bits(|lane| lane % 6 == 0)
        } else {
            bits(|lane| lane % 3 != 0)
        };
        assert_eq!(votes[lane as usize], expected, "lane {lane}");
        assert_eq!(
            votes[64 + lane as usize],
            bits(|lane| lane > 5),
            "lane {lane}"
        );
        assert_eq!(votes[128 + lane as usize], 1, "lane {lane}");
    }
    assert!(device.simulator.statistics().divergences() > 0);
}

#[test]
fn waves_with_different_trip_counts_do_not_mix() {
    let text = "extern \"C\" __global__ void kernel(int* data) {
  int t = threadIdx.x, value = t;
  for (int round = 0; round < t / (int)warpSize + 1; round++) value = __shfl_down(value, 1) + 1;
  __syncthreads();
  data[t] = value;
}";
    let values = TestDevice::new(SimulatedArchitecture::Gfx1030).block(text, 128, vec![0_i32; 128]);
    let mut expected: Vec<i32> = (0..128).collect();
    for (wave, lanes) in expected.chunks_mut(32).enumerate() {
        for _ in 0..=wave {
            let before = lanes.to_vec();
            for lane in 0..32 {
                lanes[lane] = before[(lane + 1).min(31)] + 1;
            }
        }
    }
    assert_eq!(values, expected);
}

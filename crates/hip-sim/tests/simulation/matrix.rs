//! The matrix instruction of RDNA 3, in the register layout of its manual.

use crate::test_device::TestDevice;
use hip_sim::{Dim3, SimulatedArchitecture};

const SIDE: usize = 16;

/// C += A B for one tile: each lane holds a row of A and a column of B.
const TEXT: &str = "typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef float float8 __attribute__((ext_vector_type(8)));
extern \"C\" __global__ void kernel(float* a, float* b, float* c) {
  unsigned lane = threadIdx.x;
  half16 row, column;
  float8 sum;
  for (unsigned k = 0; k < 16; k++) { row[k] = (_Float16)a[(lane % 16) * 16 + k]; column[k] = (_Float16)b[k * 16 + lane % 16]; }
  for (unsigned i = 0; i < 8; i++) sum[i] = c[(2 * i + lane / 16) * 16 + lane % 16];
  sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(row, column, sum);
  for (unsigned i = 0; i < 8; i++) c[(2 * i + lane / 16) * 16 + lane % 16] = sum[i];
}";

#[test]
fn a_wave_multiplies_two_tiles() {
    let a: Vec<f32> = (0..SIDE * SIDE)
        .map(|index| (index % 13) as f32 - 6.0)
        .collect();
    let b: Vec<f32> = (0..SIDE * SIDE)
        .map(|index| (index % 7) as f32 - 3.0)
        .collect();
    let c: Vec<f32> = (0..SIDE * SIDE).map(|index| index as f32).collect();
    let mut buffers = [a.clone(), b.clone(), c.clone()];
    let device = TestDevice::new(SimulatedArchitecture::Gfx1100);
    device
        .run(TEXT, Dim3::new(1, 1, 1), Dim3::new(32, 1, 1), &mut buffers)
        .unwrap();
    for row in 0..SIDE {
        for column in 0..SIDE {
            let product: f32 = (0..SIDE)
                .map(|k| a[row * SIDE + k] * b[k * SIDE + column])
                .sum();
            let index = row * SIDE + column;
            assert_eq!(
                buffers[2][index],
                c[index] + product,
                "row {row}, column {column}"
            );
        }
    }
}

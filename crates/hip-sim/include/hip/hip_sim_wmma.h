// hip-sim: the WMMA instructions of RDNA 3 (wave 32, 16 x 16 x 16).
#pragma once
#include <hip/hip_sim_launch.h>

namespace hip_sim {

// Replaces clang's `ext_vector_type`, which other compilers do not support.
template <class T, int N> struct vector {
  T v[N];
  vector() = default;
  template <class... A> vector(A... a) : v{T((float)a)...} {}
  T& operator[](unsigned i) { return v[i]; }
  const T& operator[](unsigned i) const { return v[i]; }
};

// Lane l holds row l % 16 of A and column l % 16 of B; element i of the accumulator is row 2 i + l / 16, column l % 16.
template <class A, class C> static inline C wmma(const A& a, const A& b, C c, unsigned step, unsigned site) {
  unsigned lane = hip_sim_frame.lane;
  memcpy(own_slot().data, &a, sizeof a);
  hip_sim_frame.wave_barrier(site);
  for (unsigned i = 0; i < 8; i++) {
    A row;
    memcpy(&row, slot_of(2 * i + lane / 16).data, sizeof row);
    float sum = (float)c[i * step];
    for (unsigned k = 0; k < 16; k++) sum += (float)row[k] * (float)b[k];
    c[i * step] = sum;
  }
  return c;
}

}  // namespace hip_sim

#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c) hip_sim::wmma((a), (b), (c), 1, __COUNTER__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c) hip_sim::wmma((a), (b), (c), 1, __COUNTER__)
#define __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, c, o) hip_sim::wmma((a), (b), (c), 2, __COUNTER__)
#define __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32(a, b, c, o) hip_sim::wmma((a), (b), (c), 2, __COUNTER__)

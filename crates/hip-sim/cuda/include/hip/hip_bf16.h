// hip-sim on CUDA: HIP's names for bfloat16.
#pragma once
#include <cuda_bf16.h>
#define __hip_bfloat16 __nv_bfloat16
#define __hip_bfloat162 __nv_bfloat162
#define __bf16 __nv_bfloat16
static __device__ inline __nv_bfloat16 abs(__nv_bfloat16 x) { return __habs(x); }
static __device__ inline __nv_bfloat16 fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __hfma(a, b, c); }
static __device__ inline __nv_bfloat16 max(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmax(a, b); }
static __device__ inline __nv_bfloat16 min(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmin(a, b); }

// hip-sim on CUDA: the functions for `__half` that HIP has and CUDA does not.
#pragma once
#include <cuda_fp16.h>
static __device__ inline __half abs(__half x) { return __habs(x); }
static __device__ inline __half fma(__half a, __half b, __half c) { return __hfma(a, b, c); }
static __device__ inline __half max(__half a, __half b) { return __hmax(a, b); }
static __device__ inline __half min(__half a, __half b) { return __hmin(a, b); }

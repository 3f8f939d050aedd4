// Functions for __half that ROCm 6 added and Debian's HIP 5.2 lacks.
#pragma once
#include_next <hip/hip_fp16.h>
__device__ inline __half __hmax(__half x, __half y) { return __hgt(x, y) ? x : y; }
__device__ inline __half __hmin(__half x, __half y) { return __hlt(x, y) ? x : y; }

// hip-sim: the part of HIP's device language that burn's ROCm backend uses, as host C++.
#pragma once
#include <hip/hip_sim_launch.h>
#define __global__
#define __device__ static inline
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __constant__ static const
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
extern "C" int printf(const char*, ...);

struct uint3 { unsigned x, y, z; };
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
#define threadIdx (hip_sim_frame.thread)
#define blockIdx (hip_sim_frame.block)
#define blockDim (hip_sim_frame.block_extent)
#define gridDim (hip_sim_frame.grid_extent)
#define warpSize (hip_sim_frame.wave_size)

// ---- barriers and wave operations --------------------------------------------
#define __syncthreads() hip_sim_frame.block_barrier()
#define __syncwarp(...) hip_sim_frame.wave_barrier(__COUNTER__)
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __threadfence()
#define __shfl(v, source, ...) hip_sim::shuffle((v), (unsigned)(source) & (hip_sim_frame.wave_size - 1), __COUNTER__)
#define __shfl_xor(v, mask, ...) hip_sim::shuffle((v), hip_sim_frame.lane ^ (unsigned)(mask), __COUNTER__)
#define __shfl_up(v, delta, ...) hip_sim::shuffle((v), hip_sim::lane_up((unsigned)(delta)), __COUNTER__)
#define __shfl_down(v, delta, ...) hip_sim::shuffle((v), hip_sim::lane_down((unsigned)(delta)), __COUNTER__)
#define __ballot(p) hip_sim::ballot((p), __COUNTER__)
#define __any(p) (hip_sim::ballot((p), __COUNTER__) != 0)
#define __all(p) (hip_sim::ballot(!(p), __COUNTER__) == 0)
#define __activemask() hip_sim::ballot(true, __COUNTER__)

// ---- scalar math -----------------------------------------------------------
#define HIP_SIM_F1(n) \
  static inline float n(float x) { return __builtin_##n##f(x); } \
  static inline double n(double x) { return __builtin_##n(x); }
HIP_SIM_F1(log) HIP_SIM_F1(log1p) HIP_SIM_F1(log2) HIP_SIM_F1(exp) HIP_SIM_F1(exp2) HIP_SIM_F1(sin) HIP_SIM_F1(cos) HIP_SIM_F1(tan) HIP_SIM_F1(sinh) HIP_SIM_F1(cosh) HIP_SIM_F1(tanh)
HIP_SIM_F1(asin) HIP_SIM_F1(acos) HIP_SIM_F1(atan) HIP_SIM_F1(asinh) HIP_SIM_F1(acosh) HIP_SIM_F1(atanh) HIP_SIM_F1(sqrt) HIP_SIM_F1(erf)
HIP_SIM_F1(ceil) HIP_SIM_F1(floor) HIP_SIM_F1(trunc) HIP_SIM_F1(rint) HIP_SIM_F1(round)
static inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
template <class T> static inline T floor(T x) { return x; }   // integers: cubecl's remainder of i64 calls floor
#define HIP_SIM_F2(n) \
  static inline float n(float a, float b) { return __builtin_##n##f(a, b); } \
  static inline double n(double a, double b) { return __builtin_##n(a, b); }
HIP_SIM_F2(pow) HIP_SIM_F2(atan2) HIP_SIM_F2(fmod) HIP_SIM_F2(fmax) HIP_SIM_F2(fmin) HIP_SIM_F2(hypot)
#define powf(a, b) __builtin_powf(a, b)
#define hypotf(a, b) __builtin_hypotf(a, b)
#define fmaxf(a, b) __builtin_fmaxf(a, b)
#define fminf(a, b) __builtin_fminf(a, b)
static inline float rhypotf(float a, float b) { return 1.0f / __builtin_hypotf(a, b); }
static inline double rhypot(double a, double b) { return 1.0 / __builtin_hypot(a, b); }
static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float abs(float a) { return __builtin_fabsf(a); }
static inline double abs(double a) { return __builtin_fabs(a); }
static inline int abs(int a) { return a < 0 ? -a : a; }
static inline long abs(long a) { return a < 0 ? -a : a; }
static inline long long abs(long long a) { return a < 0 ? -a : a; }
static inline short abs(short a) { return a < 0 ? -a : a; }
static inline signed char abs(signed char a) { return a < 0 ? -a : a; }
#define HIP_SIM_MM(T) static inline T max(T a, T b) { return a > b ? a : b; } static inline T min(T a, T b) { return a < b ? a : b; }
HIP_SIM_MM(int) HIP_SIM_MM(unsigned) HIP_SIM_MM(long) HIP_SIM_MM(unsigned long) HIP_SIM_MM(long long) HIP_SIM_MM(unsigned long long) HIP_SIM_MM(short) HIP_SIM_MM(unsigned short) HIP_SIM_MM(signed char) HIP_SIM_MM(unsigned char)
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __tanhf(float x) { return __builtin_tanhf(x); }
static inline float __powf(float a, float b) { return __builtin_powf(a, b); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __frsqrt_rn(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
// ---- bits ------------------------------------------------------------------
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static inline int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
static inline unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= ((x >> i) & 1u) << (31 - i); return r; }
static inline unsigned long long __brevll(unsigned long long x) { return ((unsigned long long)__brev((unsigned)x) << 32) | __brev((unsigned)(x >> 32)); }
static inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
// ---- atomics: a single OS thread runs all threads of a kernel, so plain read-modify-write is atomic ----
#define HIP_SIM_AT(n, e) template <class T, class U> static inline T n(T* p, U v_) { T o = *p; T v = (T)v_; *p = e; return o; }
HIP_SIM_AT(atomicAdd, o + v) HIP_SIM_AT(atomicSub, o - v) HIP_SIM_AT(atomicAnd, o & v) HIP_SIM_AT(atomicOr, o | v) HIP_SIM_AT(atomicXor, o ^ v)
HIP_SIM_AT(atomicExch, v) HIP_SIM_AT(atomicMax, o > v ? o : v) HIP_SIM_AT(atomicMin, o < v ? o : v)
template <class T, class U, class V> static inline T atomicCAS(T* p, U c, V v) { T o = *p; if (o == (T)c) *p = (T)v; return o; }

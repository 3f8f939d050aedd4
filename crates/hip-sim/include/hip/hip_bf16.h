// hip-sim: `__hip_bfloat16`, computed in f32; each operation rounds to nearest even.
#pragma once
#include <hip/hip_runtime.h>
#include <hip/hip_sim_wmma.h>
// Restricts the converting constructor to scalars: `blockIdx.x` is a class, and products with it would be ambiguous.
template <class T, bool> struct hip_sim_scalar {};
template <class T> struct hip_sim_scalar<T, false> { typedef T type; };
struct __hip_bfloat16 {
  unsigned short d;
  static unsigned short enc(float f) {
    unsigned u; memcpy(&u, &f, 4);
    if ((u & 0x7fffffff) > 0x7f800000) return (unsigned short)((u >> 16) | 0x40);
#ifdef HIP_SIM_HALF_FLUSH
    if ((u & 0x7fffffff) < 0x00800000) u &= 0x80000000;
#endif
#ifdef HIP_SIM_HALF_TRUNCATE
    return (unsigned short)(u >> 16);
#else
    return (unsigned short)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
#endif
  }
  __hip_bfloat16() = default;
  __hip_bfloat16(float x) : d(enc(x)) {}
  __hip_bfloat16(double x) : d(enc((float)x)) {}
  template <class T, class = typename hip_sim_scalar<T, __is_class(T)>::type> __hip_bfloat16(T x) : d(enc((float)x)) {}
  operator float() const { unsigned u = (unsigned)d << 16; float f; memcpy(&f, &u, 4); return f; }
  __hip_bfloat16& operator+=(__hip_bfloat16 o) { d = enc((float)*this + (float)o); return *this; }
  __hip_bfloat16& operator-=(__hip_bfloat16 o) { d = enc((float)*this - (float)o); return *this; }
  __hip_bfloat16& operator*=(__hip_bfloat16 o) { d = enc((float)*this * (float)o); return *this; }
  __hip_bfloat16& operator/=(__hip_bfloat16 o) { d = enc((float)*this / (float)o); return *this; }
  __hip_bfloat16 operator-() const { return __hip_bfloat16(-(float)*this); }
};
#define __bf16 __hip_bfloat16
struct __hip_bfloat162 { __hip_bfloat16 x, y; };
#define HIP_SIM_BOP(o) static inline __hip_bfloat16 operator o(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16((float)a o (float)b); }
HIP_SIM_BOP(+) HIP_SIM_BOP(-) HIP_SIM_BOP(*) HIP_SIM_BOP(/)
#define HIP_SIM_BCMP(o) static inline bool operator o(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a o (float)b; }
HIP_SIM_BCMP(==) HIP_SIM_BCMP(!=) HIP_SIM_BCMP(<) HIP_SIM_BCMP(<=) HIP_SIM_BCMP(>) HIP_SIM_BCMP(>=)
#define HIP_SIM_BF1(n) static inline __hip_bfloat16 h##n(__hip_bfloat16 x) { return __hip_bfloat16(n((float)x)); }
HIP_SIM_BF1(log) HIP_SIM_BF1(exp) HIP_SIM_BF1(sin) HIP_SIM_BF1(cos) HIP_SIM_BF1(sqrt) HIP_SIM_BF1(rsqrt) HIP_SIM_BF1(ceil) HIP_SIM_BF1(floor) HIP_SIM_BF1(trunc) HIP_SIM_BF1(rint)
static inline __hip_bfloat16 abs(__hip_bfloat16 x) { return __hip_bfloat16(abs((float)x)); }
static inline __hip_bfloat16 fma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) { return __hip_bfloat16(__builtin_fmaf((float)a, (float)b, (float)c)); }
static inline __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(max((float)a, (float)b)); }
static inline __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(min((float)a, (float)b)); }
static inline bool __hisnan(__hip_bfloat16 x) { return __builtin_isnan((float)x); }
static inline bool __hisinf(__hip_bfloat16 x) { return __builtin_isinf((float)x); }

// hip-sim: `__half`, computed as the compiler's `_Float16`; each operation rounds to nearest even.
#pragma once
#include <hip/hip_runtime.h>
#include <hip/hip_sim_wmma.h>

// Every conversion to the type uses this function, so that faults of the hardware can be injected here.
static inline _Float16 hip_sim_half(float x) {
  _Float16 h = (_Float16)x;
#ifdef HIP_SIM_HALF_TRUNCATE
  if (__builtin_fabsf((float)h) > __builtin_fabsf(x)) { unsigned short b; memcpy(&b, &h, 2); b--; memcpy(&h, &b, 2); }
#endif
#ifdef HIP_SIM_HALF_FLUSH
  if (__builtin_fabsf((float)h) < 6.103515625e-05f) h = 0;
#endif
  return h;
}
struct __half {
  _Float16 d;
  __half() = default;
  __half(_Float16 x) : d(hip_sim_half((float)x)) {}
  __half(float x) : d(hip_sim_half(x)) {}
  __half(double x) : d(hip_sim_half((float)x)) {}
  template <class T, class = decltype(T() << 1)> __half(T x) : d(hip_sim_half((float)x)) {}
  operator float() const { return (float)d; }
  __half& operator+=(__half o) { d = hip_sim_half((float)d + (float)o.d); return *this; }
  __half& operator-=(__half o) { d = hip_sim_half((float)d - (float)o.d); return *this; }
  __half& operator*=(__half o) { d = hip_sim_half((float)d * (float)o.d); return *this; }
  __half& operator/=(__half o) { d = hip_sim_half((float)d / (float)o.d); return *this; }
  __half operator-() const { __half r; r.d = -d; return r; }
};
#define HIP_SIM_HOP(o) static inline __half operator o(__half a, __half b) { return __half((float)a.d o (float)b.d); }
HIP_SIM_HOP(+) HIP_SIM_HOP(-) HIP_SIM_HOP(*) HIP_SIM_HOP(/)
#define HIP_SIM_HCMP(o) static inline bool operator o(__half a, __half b) { return a.d o b.d; }
HIP_SIM_HCMP(==) HIP_SIM_HCMP(!=) HIP_SIM_HCMP(<) HIP_SIM_HCMP(<=) HIP_SIM_HCMP(>) HIP_SIM_HCMP(>=)
struct __half2 { __half x, y; };
#define HIP_SIM_HF1(n) static inline __half h##n(__half x) { return __half(n((float)x)); }
HIP_SIM_HF1(log) HIP_SIM_HF1(exp) HIP_SIM_HF1(sin) HIP_SIM_HF1(cos) HIP_SIM_HF1(sqrt) HIP_SIM_HF1(rsqrt) HIP_SIM_HF1(ceil) HIP_SIM_HF1(floor) HIP_SIM_HF1(trunc) HIP_SIM_HF1(rint)
static inline __half abs(__half x) { return __half(abs((float)x)); }
static inline __half fma(__half a, __half b, __half c) { return __half(__builtin_fmaf((float)a, (float)b, (float)c)); }
static inline __half __hmax(__half a, __half b) { return __half(max((float)a, (float)b)); }
static inline __half __hmin(__half a, __half b) { return __half(min((float)a, (float)b)); }
static inline __half max(__half a, __half b) { return __hmax(a, b); }
static inline __half min(__half a, __half b) { return __hmin(a, b); }
static inline bool __hisnan(__half x) { return __builtin_isnan((float)x); }
static inline bool __hisinf(__half x) { return __builtin_isinf((float)x); }

// hip-sim on CUDA: HIP's device language in terms of CUDA's, where they differ. Waves are warps of 32.
#pragma once
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
// HIP's wave operations apply to all active lanes; CUDA's need the participating lanes as an argument.
#define __shfl(v, source, ...) __shfl_sync(__activemask(), (v), (source))
#define __shfl_xor(v, mask, ...) __shfl_xor_sync(__activemask(), (v), (mask))
#define __shfl_up(v, delta, ...) __shfl_up_sync(__activemask(), (v), (delta))
#define __shfl_down(v, delta, ...) __shfl_down_sync(__activemask(), (v), (delta))
#define __ballot(p) ((unsigned long long)__ballot_sync(__activemask(), (p)))
#define __any(p) __any_sync(__activemask(), (p))
#define __all(p) __all_sync(__activemask(), (p))
#define __tanhf(x) tanhf(x)

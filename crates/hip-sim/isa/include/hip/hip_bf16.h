// Debian's HIP 5.2 has no hip_bf16.h: this is the simulator's bfloat16, for host and device.
#pragma once
#include <hip/hip_runtime.h>
#pragma clang force_cuda_host_device begin
#include "../../../include/hip/hip_bf16.h"
#pragma clang force_cuda_host_device end

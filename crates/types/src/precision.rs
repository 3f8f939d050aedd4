//! The number formats that a model computes in.

use crate::{closed_enum::closed_enum, device_kind::DeviceKind};

closed_enum! {
    /// The type of weights and activations. Accumulators inside a matrix product may be wider.
    Precision: "precision" {
        /// IEEE 754 binary32.
        // From fine to coarse: `Precisions::Finest` takes the least variant that a spec has.
        F32 = "f32",
        /// f32 in memory; matrix units round the factors of products to 10 bits of mantissa, and
        /// everything else is computed in f32. NVIDIA's have such units from compute capability
        /// 8.0 on, and AMD's MI300 (gfx942, where they are called XF32).
        Tf32 = "tf32",
        /// IEEE 754 binary16: 10 bits of mantissa, largest value 65504.
        F16 = "f16",
        /// bfloat16: 7 bits of mantissa, the exponent range of f32.
        Bf16 = "bf16",
    }
}

impl Precision {
    /// Whether models can be computed in it on devices of this kind. A spec's checks in a precision
    /// exist on these only.
    pub const fn applies_on(self, device: DeviceKind) -> bool {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => true,
            // On HIP cubecl 0.10 compiles TF32 to `float`, and no matrix instruction takes it.
            Self::Tf32 => matches!(device, DeviceKind::Cuda),
        }
    }

    /// The type of tensors in memory.
    pub const fn storage(self) -> Self {
        match self {
            Self::F32 | Self::Tf32 => Self::F32,
            Self::F16 => Self::F16,
            Self::Bf16 => Self::Bf16,
        }
    }

    /// The loosest tolerance in the table for results in this precision: the error relative to the
    /// norm, and the error of the largest element. A comparison that allows more than this cannot
    /// fail.
    pub const fn tolerance_ceiling(self) -> [f64; 2] {
        match self {
            // Ten times the floor of `docs/results.md`, from which a threshold starts without
            // noise.
            Self::F32 => [3e-5, 6e-5],
            Self::Tf32 | Self::F16 => [5e-2, 1e-1],
            Self::Bf16 => [2e-1, 4e-1],
        }
    }
}

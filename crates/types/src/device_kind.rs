//! The kinds of device that one suite binary supports.

use crate::closed_enum::closed_enum;

closed_enum! {
    /// The kind of device a model runs on. `Rocm` is an AMD GPU found on either detection path,
    /// never anything else.
    DeviceKind: "device" {
        /// The host processor.
        Cpu = "cpu",
        /// An NVIDIA GPU.
        Cuda = "cuda",
        /// An AMD GPU.
        Rocm = "rocm",
    }
}

//! The kinds of device that one suite binary serves.

use crate::word::words;

words! {
    /// Where a model runs. `Rocm` is an AMD GPU by either detection path, never anything else.
    DeviceKind: "device" {
        /// The host processor.
        Cpu = "cpu",
        /// An NVIDIA GPU.
        Cuda = "cuda",
        /// An AMD GPU.
        Rocm = "rocm",
    }
}

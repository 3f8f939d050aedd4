//! Memory of a device, as its driver names it.

/// Where a tensor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DriverMemory {
    /// The address.
    pub(crate) address: u64,
    /// CUDA's context, as an integer, or the number of the device in HIP's runtime.
    pub(crate) owner: u64,
}

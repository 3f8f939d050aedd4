//! A device that burn has opened.

use testgen_device::Device;
use testgen_nn::device::BackendDevice;

/// A device that burn computes on, proven by a known answer.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    pub(crate) facts: Device,
    pub(crate) backend: BackendDevice,
    /// Whether f32 products may be computed in TF32.
    pub(crate) tf32: bool,
}

impl OpenDevice {
    /// The facts that detection found.
    pub fn facts(&self) -> &Device {
        &self.facts
    }

    /// Whether f32 products on it are computed in TF32, with the mantissa of f16. Only a translation layer may do that,
    /// where it is measured.
    pub fn tf32(&self) -> bool {
        self.tf32
    }
}

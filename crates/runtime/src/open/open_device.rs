//! A device that something has opened.

use crate::engine::{AttachedEngine, CheckEngine};
use std::sync::Arc;
use testgen_device::Device;
#[cfg(feature = "native")]
use testgen_nn::device::BackendDevice;
use testgen_nn::weights::Residency;
use testgen_types::DeviceKind;

/// A device that computes, proven by a known answer.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    pub(crate) facts: Device,
    pub(crate) executor: DeviceExecutor,
    /// Whether f32 products may be computed in TF32.
    pub(crate) tf32: bool,
    /// Where the layers of models are that are loaded on it.
    pub(crate) residency: Residency,
    /// The kind that was asked for and why it is another one, if the engine has opened the CPU
    /// in its place.
    pub(crate) fallback: Option<(DeviceKind, String)>,
}

/// The executor of computations on a device.
#[derive(Debug, Clone)]
pub(crate) enum DeviceExecutor {
    /// burn, in this process.
    #[cfg(feature = "native")]
    Native(BackendDevice),
    /// A separate process, in the service of a check.
    Engine {
        process: Arc<AttachedEngine>,
        engine: CheckEngine,
    },
}

impl OpenDevice {
    /// The facts that detection found.
    pub fn facts(&self) -> &Device {
        &self.facts
    }

    /// The process that computes, or `None` for burn.
    pub(crate) fn process(&self) -> Option<&Arc<AttachedEngine>> {
        match &self.executor {
            #[cfg(feature = "native")]
            DeviceExecutor::Native(_) => None,
            DeviceExecutor::Engine { process, .. } => Some(process),
        }
    }

    /// Whether f32 products on it are computed in TF32, with the mantissa of f16. Only two may do
    /// that: a translation layer, for which it is measured, and an engine that was asked to.
    pub fn tf32(&self) -> bool {
        self.tf32
    }
}

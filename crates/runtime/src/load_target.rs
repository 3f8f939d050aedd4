//! The target of an init function: the checkpoint and the device; the model that it loaded; and errors of loading.

use crate::{
    label::Label,
    memory::DeviceMemory,
    open::{OpenDevice, OpenError},
    probe::PrecisionError,
};
use testgen_device::DeviceIndex;
use testgen_models::{Checkpoint, LoadError, Model};
use testgen_types::{DeviceKind, Precision};

/// The target of an init function.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadTarget {
    /// The checkpoint to load.
    pub checkpoint: Checkpoint,
    /// `auto` or an index among the visible devices of the kind that the init function is for.
    pub index: DeviceIndex,
    /// The precision to compute in; none selects the first 16-bit one of the spec's that the probe proves correct, else f32.
    pub precision: Option<Precision>,
    /// The label of the endpoint.
    pub label: Label,
}

impl LoadTarget {
    /// The same checkpoint and precision on another kind of device, labelled accordingly.
    #[must_use]
    pub fn on(&self, device: DeviceKind) -> Self {
        Self { label: self.label.on(device), ..self.clone() }
    }
}

/// A model on the device that it was loaded on, before it has a handler.
pub struct LoadedModel {
    pub(crate) label: Label,
    pub(crate) device: OpenDevice,
    pub(crate) model: Model,
    pub(crate) memory: Option<MemoryAroundLoad>,
}

/// Memory in use around the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryAroundLoad {
    pub(crate) before: DeviceMemory,
    pub(crate) after: DeviceMemory,
}

impl LoadedModel {
    /// The model of `target`, on an open device.
    pub fn new(target: &LoadTarget, device: OpenDevice, model: Model) -> Self {
        Self { label: target.label.clone(), device, model, memory: None }
    }

    /// Attaches the memory in use before and after the load.
    #[must_use]
    pub fn with_memory(mut self, before: DeviceMemory, after: DeviceMemory) -> Self {
        self.memory = Some(MemoryAroundLoad { before, after });
        self
    }
}

/// Why a device that was found has no model. The message is that of the step that failed.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The device cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The device computes none of the precisions correctly.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// The checkpoint cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

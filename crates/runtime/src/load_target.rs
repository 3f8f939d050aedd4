//! The target of an init function: the checkpoint and the device; the model that it loaded; and
//! errors of loading.

use crate::{
    engine::CheckEngine,
    label::Label,
    memory::DeviceMemory,
    open::{OpenDevice, OpenError, open_with},
    probe::PrecisionError,
    subject::LoadedSubject,
};
use std::path::PathBuf;
use testgen_device::{Device, DeviceIndex};
use testgen_models::{Checkpoint, LoadError};
use testgen_nn::forward::Unsupported;
use testgen_types::{DeviceKind, Precision};

/// The target of an init function.
#[derive(Debug, Clone)]
pub struct LoadTarget {
    /// The checkpoint to load; operators have none.
    pub checkpoint: Option<Checkpoint>,
    /// `auto` or an index among the visible devices of the kind that the init function is for.
    pub index: DeviceIndex,
    /// The precision to compute in, or `None` for the first 16-bit one of the spec's that the
    /// probe proves correct, else f32.
    pub precision: Option<Precision>,
    /// The label of the endpoint.
    pub label: Label,
    /// The engine that computes, and for which a device is detected.
    pub engine: CheckEngine,
}

impl LoadTarget {
    /// The same checkpoint and precision on another kind of device, labelled accordingly.
    #[must_use]
    pub fn on(&self, device: DeviceKind) -> Self {
        Self {
            label: self.label.on(device),
            ..self.clone()
        }
    }

    /// Opens a device with the engine, and proves by a known answer that it computes; see
    /// [`crate::open()`].
    ///
    /// # Errors
    ///
    /// The step that failed, with its message and a remedy.
    pub fn open(&self, device: Device) -> Result<OpenDevice, OpenError> {
        open_with(&self.engine, device)
    }
}

/// A model, or operators, on the device that they were loaded on, before they have a handler.
pub struct LoadedModel {
    pub(crate) label: Label,
    pub(crate) device: OpenDevice,
    pub(crate) loaded: LoadedSubject,
    pub(crate) memory: Option<MemoryAroundLoad>,
}

/// Memory in use around the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryAroundLoad {
    pub(crate) before: DeviceMemory,
    pub(crate) after: DeviceMemory,
}

impl LoadedModel {
    /// The model or the operators that were loaded for `target`, on an open device.
    pub fn new(target: &LoadTarget, device: OpenDevice, loaded: LoadedSubject) -> Self {
        Self {
            label: target.label.clone(),
            device,
            loaded,
            memory: None,
        }
    }

    /// Attaches the memory in use before and after the load.
    #[must_use]
    pub fn with_memory(mut self, before: DeviceMemory, after: DeviceMemory) -> Self {
        self.memory = Some(MemoryAroundLoad { before, after });
        self
    }
}

/// Why a device that was found has no model. The message comes from the step that failed.
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
    /// A model has a checkpoint.
    #[error("a model is loaded from a checkpoint, but none was given")]
    NoCheckpoint,
    /// Operators have no checkpoint.
    #[error("operators have no checkpoint, but `{}` was given", directory.display())]
    CheckpointOfOperators {
        /// The checkpoint's directory.
        directory: PathBuf,
    },
    /// The suite has no operators.
    #[error(
        "this suite was built without operators; enable the feature `operators` of `testgen-runtime`"
    )]
    OperatorsNotCompiled,
    /// The engine does not compute the subject.
    #[error("the engine does not compute {0}")]
    NotInEngine(#[from] Unsupported),
}

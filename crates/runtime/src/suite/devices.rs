//! The devices of the machine, detected once for each kind and engine.

use super::device_selection::SelectedDevices;
use crate::{
    detect,
    harness::Spec,
    require::{REQUIRE_VARIABLE, RequiredDevices},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use testgen_device::{Device, DeviceIndex, DeviceUnavailable};
use testgen_engine::EngineName;
use testgen_types::{DeviceKind, Requirement};

/// The devices of this machine, one of each kind for each engine.
#[derive(Debug)]
pub(super) struct SuiteDevices {
    selection: SelectedDevices,
    detected: Mutex<BTreeMap<(DeviceKind, EngineName), DetectedOnce>>,
}

type DetectedOnce = Arc<OnceLock<Result<Device, DeviceUnavailable>>>;

/// Why no check of a harness can run on a kind of device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unavailable {
    /// The device is missing, refused by the requirements, or has too little memory.
    pub(super) reason: String,
    /// Whether `TESTGEN_REQUIRE` makes it a failure.
    pub(super) required: bool,
}

impl SuiteDevices {
    /// The devices of the machine. Detection runs at the first use of a kind by an engine.
    pub(super) fn new(selection: SelectedDevices) -> Self {
        Self {
            selection,
            detected: Mutex::default(),
        }
    }

    /// The selected device of `kind`.
    pub(super) fn index(&self, kind: DeviceKind) -> DeviceIndex {
        self.selection.index(kind)
    }

    /// The memory of the device of `kind` that was free when it was detected, in bytes, or `None`
    /// if its driver does not report it.
    pub(super) fn free_memory(&self, kind: DeviceKind, engine: &EngineName) -> Option<u64> {
        self.for_engine(kind, engine).ok()?.free_memory
    }

    fn for_engine(
        &self,
        kind: DeviceKind,
        engine: &EngineName,
    ) -> Result<Device, DeviceUnavailable> {
        let mut detected = self.detected.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::clone(detected.entry((kind, engine.clone())).or_default());
        // Outside the lock: an engine that lists its devices is started for that, which takes
        // seconds.
        drop(detected);
        known
            .get_or_init(|| detect::detect(kind, self.index(kind), engine))
            .clone()
    }

    /// Why no check of `spec` can run on `kind` with `engine`; `None` when the device is available.
    pub(super) fn unavailable(
        &self,
        spec: &Spec,
        kind: DeviceKind,
        engine: &EngineName,
        requirements: &RequiredDevices,
    ) -> Option<Unavailable> {
        let required = requirements.on(kind);
        let reason = match self.for_engine(kind, engine) {
            Err(unavailable) => Some(unavailable.to_string()),
            Ok(device) => requirements
                .refuses(&device)
                .or_else(|| too_small(spec, &device)),
        };
        // Only a requirement can ask for more than one device.
        let reason = reason.or_else(|| too_few(required?, engine));
        reason.map(|reason| match required {
            // `refuses` already names the variable in its reason.
            Some(requirement) if !reason.starts_with(REQUIRE_VARIABLE) => Unavailable {
                reason: format!("{REQUIRE_VARIABLE}={requirement}, but {reason}"),
                required: true,
            },
            required => Unavailable {
                reason,
                required: required.is_some(),
            },
        })
    }
}

/// The spec's memory requirement applies to GPUs only.
fn too_small(spec: &Spec, device: &Device) -> Option<String> {
    let needed = spec
        .vram_mib
        .filter(|_| device.kind != DeviceKind::Cpu)?
        .saturating_mul(1 << 20);
    // Another process may hold a part of the memory; drivers that do not report how much leave only
    // the size.
    let free = device.free_memory.or(device.total_memory)?;
    let mib = free >> 20;
    (free < needed).then(|| {
        format!(
            "`{}` needs {} MiB, {} (`{}`) has {mib} MiB free",
            spec.name,
            needed >> 20,
            device.label(),
            device.name
        )
    })
}

fn too_few(required: Requirement, engine: &EngineName) -> Option<String> {
    let (kind, count) = (required.device, required.count.get());
    // The device of the check is one.
    if count == 1 {
        return None;
    }
    let found = detect::usable(kind, engine).len();
    (found < count as usize).then(|| format!("only {found} of {count} {kind} devices can be used"))
}

//! Which devices there are, asked once for each kind.

use super::chosen::Chosen;
use crate::{
    Spec, detect,
    require::{REQUIRE_VARIABLE, Requirements},
};
use std::sync::OnceLock;
use testgen_contract::DeviceKind;
use testgen_device::{Absence, Device, DeviceIndex};

/// The devices of this machine, one of each kind.
#[derive(Debug)]
pub(super) struct Devices {
    chosen: Chosen,
    cpu: OnceLock<Result<Device, Absence>>,
    cuda: OnceLock<Result<Device, Absence>>,
    rocm: OnceLock<Result<Device, Absence>>,
}

/// Why no check of a harness can be made on a kind of device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unavailable {
    /// Absent, or too small.
    pub(super) reason: String,
    /// Whether `TESTGEN_REQUIRE` makes it a failure.
    pub(super) required: bool,
}

impl Devices {
    /// Those of the machine, none of which was asked for yet.
    pub(super) fn new(chosen: Chosen) -> Self {
        Self { chosen, cpu: OnceLock::new(), cuda: OnceLock::new(), rocm: OnceLock::new() }
    }

    /// Which device of `kind` it is.
    pub(super) fn index(&self, kind: DeviceKind) -> DeviceIndex {
        self.chosen.index(kind)
    }

    fn of(&self, kind: DeviceKind) -> &Result<Device, Absence> {
        let known = match kind {
            DeviceKind::Cpu => &self.cpu,
            DeviceKind::Cuda => &self.cuda,
            DeviceKind::Rocm => &self.rocm,
        };
        known.get_or_init(|| detect::detect(kind, self.index(kind)))
    }

    /// Why nothing of `spec` can run on `kind`; none when the device is there.
    pub(super) fn unavailable(
        &self,
        spec: &Spec,
        kind: DeviceKind,
        requirements: &Requirements,
    ) -> Option<Unavailable> {
        let required = requirements.on(kind);
        let reason = match self.of(kind) {
            Err(absence) => Some(absence.to_string()),
            Ok(device) => requirements.refuses(device).or_else(|| too_small(spec, device)),
        };
        let reason = reason.or_else(|| too_few(kind, required?.count));
        reason.map(|reason| match required {
            Some(requirement) if !reason.starts_with(REQUIRE_VARIABLE) => {
                Unavailable { reason: format!("{REQUIRE_VARIABLE}={requirement}, but {reason}"), required: true }
            }
            required => Unavailable { reason, required: required.is_some() },
        })
    }
}

/// The memory that the spec asks for is a GPU's.
fn too_small(spec: &Spec, device: &Device) -> Option<String> {
    let needed = spec.vram_mib.filter(|_| device.kind != DeviceKind::Cpu)?.saturating_mul(1 << 20);
    let free = device.free_memory.or(device.total_memory)?;
    let mib = free >> 20;
    (free < needed).then(|| {
        format!("`{}` needs {} MiB, {} (`{}`) has {mib} MiB free", spec.name, needed >> 20, device.label(), device.name)
    })
}

fn too_few(kind: DeviceKind, count: u32) -> Option<String> {
    let found = (0..count).take_while(|index| detect::detect(kind, DeviceIndex::Index(*index)).is_ok()).count();
    (found < count as usize).then(|| format!("only {found} of {count} {kind} devices can be used"))
}

//! The columns of merged reports: a device with an engine.

use std::collections::BTreeSet;
use testgen_types::{DeviceKind, HardwareInfo, ReportEntry};

/// One device, or the checks of a device that is absent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The device that its checks name.
    pub device: DeviceKind,
    /// The index of that device, if the run selected one of several.
    pub index: Option<u32>,
    /// The engine that computed, or `None` for the native one.
    pub engine: Option<String>,
    /// A software simulation.
    pub simulated: bool,
    /// The driver's name of the device, or `None` if nothing ran.
    pub name: Option<String>,
    /// Driver and library versions, once for each machine that differs.
    pub hardware: BTreeSet<HardwareInfo>,
    /// Whether its f32 products may be computed in TF32.
    pub tf32: bool,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The versions of testgen's runtime.
    pub testgen: BTreeSet<String>,
    /// The versions of the engine's libraries.
    pub engine_versions: BTreeSet<String>,
    /// Indices of the reports with entries of this device.
    pub sources: BTreeSet<usize>,
}

/// The fields that make two devices one column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) device: DeviceKind,
    pub(super) index: Option<u32>,
    pub(super) engine: Option<String>,
    pub(super) simulated: bool,
    pub(super) name: Option<String>,
}

impl Column {
    /// `rocm: AMD Instinct MI300X`, `rocm: gfx1100 (SIMULATED)`, `rocm: nothing ran`; of an engine
    /// `rocm@torch: AMD Instinct MI300X`; of one of several devices `rocm:1: AMD Instinct MI300X`.
    pub fn label(&self) -> String {
        let name = self.name.as_deref().unwrap_or("nothing ran");
        let simulated = if self.simulated { " (SIMULATED)" } else { "" };
        format!(
            "{}: {name}{simulated}",
            on_engine(self.device, self.index, self.engine.as_deref())
        )
    }

    /// Whether a device of this kind ran, and not a simulation of it.
    pub fn is_real(&self) -> bool {
        self.name.is_some() && !self.simulated
    }

    pub(super) fn identity(&self) -> Identity {
        Identity {
            device: self.device,
            index: self.index,
            engine: self.engine.clone(),
            simulated: self.simulated,
            name: self.name.clone(),
        }
    }

    pub(super) fn empty(
        Identity {
            device,
            index,
            engine,
            simulated,
            name,
        }: Identity,
    ) -> Self {
        Self {
            device,
            index,
            engine,
            simulated,
            name,
            hardware: BTreeSet::new(),
            tf32: false,
            memory: None,
            testgen: BTreeSet::new(),
            engine_versions: BTreeSet::new(),
            sources: BTreeSet::new(),
        }
    }

    pub(super) fn add(&mut self, source: usize, entry: &ReportEntry) {
        self.sources.insert(source);
        self.testgen.extend(entry.testgen.clone());
        self.engine_versions.extend(entry.engine_versions.clone());
        // A fallback in this column ran on another device, whose properties must not appear here.
        if self.name.is_some() && entry.device_name == self.name {
            self.hardware.extend(entry.hardware.clone());
            // One machine with TF32 is enough: the column's errors are then not of f32 alone.
            self.tf32 |= entry.tf32;
            self.memory = self
                .memory
                .max(entry.memory.and_then(|memory| memory.total));
        }
    }
}

/// A device with its index and an engine: `cuda`, `cuda:1`, `cuda@torch/eager`.
pub(crate) fn on_engine(device: DeviceKind, index: Option<u32>, engine: Option<&str>) -> String {
    let device = index.map_or(device.to_string(), |index| format!("{device}:{index}"));
    match engine {
        Some(engine) => format!("{device}@{engine}"),
        None => device,
    }
}

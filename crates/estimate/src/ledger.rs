//! Bytes in use while a model computes, and their maximum.

use std::cell::Cell;

/// The use of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryUse {
    /// Hidden states, attention scores, masks and outputs.
    Activations,
    /// Copies within one operation: factors of a product in another type, sums before they are
    /// reordered.
    Workspace,
    /// Keys, values and states for later steps.
    Cache,
    /// Tensors of the model, which are counted by the checkpoint and not here.
    Weights,
}

/// Bytes by what they are used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MemoryByUse {
    pub(crate) activations: u64,
    pub(crate) workspace: u64,
    pub(crate) cache: u64,
}

impl MemoryByUse {
    pub(crate) fn total(self) -> u64 {
        self.activations
            .saturating_add(self.workspace)
            .saturating_add(self.cache)
    }

    /// `None` for what is not counted here.
    fn part_mut(&mut self, part: MemoryUse) -> Option<&mut u64> {
        match part {
            MemoryUse::Activations => Some(&mut self.activations),
            MemoryUse::Workspace => Some(&mut self.workspace),
            MemoryUse::Cache => Some(&mut self.cache),
            MemoryUse::Weights => None,
        }
    }
}

/// The bytes in use now, and those at the time when most were.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    now: Cell<MemoryByUse>,
    peak: Cell<MemoryByUse>,
}

impl Ledger {
    pub(crate) fn grow(&self, part: MemoryUse, bytes: u64) {
        let mut now = self.now.get();
        if let Some(counted) = now.part_mut(part) {
            *counted = counted.saturating_add(bytes);
        }
        self.now.set(now);
        // The parts of one moment: their own maxima are at different times, and their sum would be
        // too large.
        if now.total() > self.peak.get().total() {
            self.peak.set(now);
        }
    }

    pub(crate) fn shrink(&self, part: MemoryUse, bytes: u64) {
        let mut now = self.now.get();
        if let Some(counted) = now.part_mut(part) {
            *counted = counted.saturating_sub(bytes);
        }
        self.now.set(now);
    }

    pub(crate) fn now(&self) -> MemoryByUse {
        self.now.get()
    }

    pub(crate) fn peak(&self) -> MemoryByUse {
        self.peak.get()
    }
}

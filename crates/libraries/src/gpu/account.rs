//! The bytes that were allocated on a device, for reports of memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes in use, and the most that were in use at a time.
#[derive(Debug, Default)]
pub struct Account {
    live: AtomicU64,
    peak: AtomicU64,
}

impl Account {
    /// Bytes in use.
    pub fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    /// The most bytes that were in use at a time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub(crate) fn allocated(&self, bytes: usize) {
        // Relaxed: both are numbers for a report, and no other memory is read because of them.
        let live = self.live.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        self.peak.fetch_max(live, Ordering::Relaxed);
    }

    pub(crate) fn released(&self, bytes: usize) {
        self.live.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

//! Counters of the simulator's work.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters, updated from any thread.
#[derive(Debug, Default)]
pub struct Statistics {
    compiled: AtomicU64,
    compile_microseconds: AtomicU64,
    cache_hits: AtomicU64,
    launches: AtomicU64,
    fiber_launches: AtomicU64,
    launch_microseconds: AtomicU64,
    switches: AtomicU64,
    divergences: AtomicU64,
    allocations: AtomicU64,
}

/// Counters of one launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LaunchStats {
    /// How often a fiber was resumed.
    pub(crate) switches: u64,
    /// Wave operations in which only a part of the live lanes took part.
    pub(crate) divergences: u64,
}

impl Statistics {
    /// Kernels that were compiled because the cache did not have them.
    pub fn compiled_kernels(&self) -> u64 {
        self.compiled.load(Relaxed)
    }

    /// Kernels that were found in the cache.
    pub fn cache_hits(&self) -> u64 {
        self.cache_hits.load(Relaxed)
    }

    /// Launches.
    pub fn launches(&self) -> u64 {
        self.launches.load(Relaxed)
    }

    /// Wave operations in which only a part of the live lanes took part.
    pub fn divergences(&self) -> u64 {
        self.divergences.load(Relaxed)
    }

    pub(crate) fn cache_hit(&self) {
        self.cache_hits.fetch_add(1, Relaxed);
    }

    pub(crate) fn compiled(&self, time: Duration) {
        self.compiled.fetch_add(1, Relaxed);
        self.compile_microseconds
            .fetch_add(microseconds(time), Relaxed);
    }

    pub(crate) fn allocated(&self) {
        self.allocations.fetch_add(1, Relaxed);
    }

    pub(crate) fn launched(&self, fibers: bool, time: Duration, stats: LaunchStats) {
        self.launches.fetch_add(1, Relaxed);
        self.fiber_launches.fetch_add(u64::from(fibers), Relaxed);
        self.launch_microseconds
            .fetch_add(microseconds(time), Relaxed);
        self.switches.fetch_add(stats.switches, Relaxed);
        self.divergences.fetch_add(stats.divergences, Relaxed);
    }
}

/// One line of JSON.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [
            ("compiled", &self.compiled),
            ("compile_us", &self.compile_microseconds),
            ("cache_hits", &self.cache_hits),
            ("launches", &self.launches),
            ("fiber_launches", &self.fiber_launches),
            ("launch_us", &self.launch_microseconds),
            ("switches", &self.switches),
            ("divergences", &self.divergences),
            ("allocations", &self.allocations),
        ];
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("\"{name}\":{}", value.load(Relaxed)))
            .collect();
        write!(f, "{{{}}}", fields.join(","))
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

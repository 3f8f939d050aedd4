//! The result of a probe, once per device and process.

use crate::open::{OpenDevice, device_panics, out_of_memory};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use testgen_device::DetectionPath;
use testgen_engine::EngineName;

/// An engine, none for the native one, and a device.
type Key = (Option<EngineName>, DetectionPath, u32);

/// The result of a probe for each device.
pub(super) struct Probed<T>(Mutex<BTreeMap<Key, Arc<OnceLock<T>>>>);

impl<T: Clone> Probed<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The result of the first call of `probe` for the device, during which it did not run out of
    /// memory.
    pub(super) fn once(&self, device: &OpenDevice, probe: impl FnOnce(&OpenDevice) -> T) -> T {
        let engine = device
            .process()
            .map(|process| process.engine().name().clone());
        // By path and index and not by name, because a machine can have several GPUs of one model.
        let key = (engine, device.facts.path, device.facts.index);
        // Only the entry is taken under the lock: a probe takes seconds and must not block other
        // devices.
        let probed = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(key.clone())
            .or_default()
            .clone();
        let before = device_panics();
        let result = probed.get_or_init(|| probe(device)).clone();
        // Compared with the count before, because other threads may have had the same panic
        // earlier.
        if out_of_memory(before).is_some() {
            // The next check probes again: there may be memory then.
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&key);
        }
        result
    }
}

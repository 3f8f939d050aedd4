//! Processes that wait for the next check.
//!
//! A check has its process for itself, so that an engine that dies or hangs makes no other check
//! fail. Starting one takes seconds.

use super::{attach_error::AttachError, attached::AttachedEngine};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use testgen_device::{DetectionPath, Device};
use testgen_engine::EngineName;

/// An engine on a device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EngineKey {
    name: EngineName,
    path: DetectionPath,
    index: u32,
}

impl EngineKey {
    pub(super) fn new(name: &EngineName, device: &Device) -> Self {
        Self {
            name: name.clone(),
            path: device.path,
            index: device.index,
        }
    }
}

#[derive(Default)]
struct EnginePool {
    waiting: BTreeMap<EngineKey, Vec<Arc<AttachedEngine>>>,
    /// Engines that did not start, with the error.
    // Thousands of checks must not wait for the same time limit.
    failed: BTreeMap<EngineKey, AttachError>,
}

static POOL: Mutex<Option<EnginePool>> = Mutex::new(None);

fn with_pool<T>(work: impl FnOnce(&mut EnginePool) -> T) -> T {
    work(
        POOL.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_default(),
    )
}

/// A waiting process, else a new one.
pub(super) fn take(
    key: &EngineKey,
    name: &EngineName,
    device: &Device,
) -> Result<Arc<AttachedEngine>, AttachError> {
    let waiting = with_pool(|pool| match pool.failed.get(key) {
        Some(error) => Err(error.clone()),
        None => Ok(pool.waiting.get_mut(key).and_then(Vec::pop)),
    })?;
    // It can have ended while it waited.
    if let Some(engine) = waiting.filter(|engine| engine.is_running()) {
        return Ok(engine);
    }
    // Outside the lock: it takes seconds.
    AttachedEngine::start(name, device)
        .map(Arc::new)
        .inspect_err(|error| {
            with_pool(|pool| pool.failed.insert(key.clone(), error.clone()));
        })
}

/// Keeps a process for the next check if it runs.
pub(super) fn give_back(key: EngineKey, engine: Arc<AttachedEngine>) {
    // A process that ended is dropped, so that the next check starts one.
    if engine.is_running() {
        with_pool(|pool| pool.waiting.entry(key).or_default().push(engine));
    }
}

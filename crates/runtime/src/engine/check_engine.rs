//! The engine of one check: its name, the processes that the check has used, and what they have
//! reported.

use super::{
    attach_error::AttachError,
    attached::AttachedEngine,
    pool::{self, EngineKey},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use testgen_device::Device;
use testgen_engine::{Computation, EngineName, Implementation};
use testgen_types::{ProviderShare, excerpt};

/// The engine of one check, or the native one of a load outside of checks. A clone is the same
/// engine.
#[derive(Debug, Clone)]
pub struct CheckEngine {
    shared: Arc<SharedEngine>,
    /// The implementation that models are loaded with, in place of the column's own.
    pub(super) implementation: Option<Implementation>,
}

#[derive(Debug)]
struct SharedEngine {
    name: EngineName,
    state: Mutex<CheckEngineState>,
}

#[derive(Debug, Default)]
struct CheckEngineState {
    /// The processes that the check has used so far, the last one at the end.
    attached: Vec<(EngineKey, Arc<AttachedEngine>)>,
    evidence: EngineEvidence,
    highest: HighestMemory,
}

/// The most memory that the models of a check have used on a GPU. `None`: it is not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HighestMemory {
    /// Of tensors, as the allocator counts them.
    pub(crate) peak: Option<u64>,
    /// Of the process that computes, as the driver counts it when it is asked.
    pub(crate) driver: Option<u64>,
}

impl HighestMemory {
    /// The larger one of each.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            peak: self.peak.max(other.peak),
            driver: self.driver.max(other.driver),
        }
    }
}

/// Facts about the engine that ran, for the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EngineEvidence {
    /// The versions of its libraries, or `None` if it did not start.
    pub(crate) versions: Option<String>,
    /// The execution providers of the first graph that was computed.
    pub(crate) providers: Vec<ProviderShare>,
}

impl CheckEngine {
    /// The engine that is part of the suite.
    pub fn native() -> Self {
        Self::new(EngineName::native())
    }

    /// The engine of a check that begins.
    pub(crate) fn new(name: EngineName) -> Self {
        Self {
            shared: Arc::new(SharedEngine {
                name,
                state: Mutex::default(),
            }),
            implementation: None,
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &EngineName {
        &self.shared.name
    }

    /// Its name if it computes in a separate process.
    pub(crate) fn process_name(&self) -> Option<&EngineName> {
        Some(&self.shared.name).filter(|name| !name.is_native())
    }

    /// The same engine, which loads models with the implementation `name`.
    #[must_use]
    pub(crate) fn with_implementation(&self, of: Computation, name: &str) -> Self {
        let implementation = Some(Implementation {
            of,
            name: name.to_owned(),
        });
        Self {
            shared: Arc::clone(&self.shared),
            implementation,
        }
    }

    /// The process on `device`: the one that this check has used before, one of an earlier check,
    /// or a new one.
    pub(crate) fn attach(&self, device: &Device) -> Result<Arc<AttachedEngine>, AttachError> {
        let name = &self.shared.name;
        let key = EngineKey::new(name, device);
        // An engine that a call of this check has ended is replaced, so that the next call has one.
        if let Some((_, known)) = self
            .state()
            .attached
            .iter()
            .find(|(other, process)| *other == key && process.is_running())
        {
            return Ok(Arc::clone(known));
        }
        // Outside the lock: it takes seconds.
        let process = pool::take(&key, name, device)?;
        let mut state = self.state();
        state.evidence.versions = Some(process.versions());
        state.attached.push((key, Arc::clone(&process)));
        Ok(process)
    }

    /// Keeps the versions of what computes, for the report.
    pub(crate) fn note_versions(&self, versions: &str) {
        self.state().evidence.versions = Some(versions.to_owned());
    }

    /// The process that the check used last, or `None` for the native engine, and before it has
    /// started.
    pub(crate) fn process(&self) -> Option<Arc<AttachedEngine>> {
        self.state()
            .attached
            .last()
            .map(|(_, process)| Arc::clone(process))
    }

    /// Whether the process that the check used last has ended.
    pub(crate) fn has_stopped(&self) -> bool {
        // A process ends after a crash or a time limit.
        self.process().is_some_and(|process| !process.is_running())
    }

    /// The execution providers that computed the first graph of this check; empty for an engine
    /// without graphs.
    pub(crate) fn providers(&self) -> Vec<ProviderShare> {
        self.state().evidence.providers.clone()
    }

    /// Keeps the execution providers of the first call of a check, which has the precision in the
    /// check's name.
    pub(super) fn set_providers(&self, providers: &[ProviderShare]) {
        let kept = &mut self.state().evidence.providers;
        // Only the first call has the precision of the check's name; later ones may compare others.
        if kept.is_empty() {
            *kept = providers
                .iter()
                .take(PROVIDERS)
                .map(|share| ProviderShare {
                    provider: excerpt(&share.provider).into_owned(),
                    ..*share
                })
                .collect();
        }
    }

    /// Notes the memory of a model that is about to be unloaded.
    pub(super) fn note_memory(&self, process: &AttachedEngine) {
        // On the host processor no engine counts a peak, and asking takes time.
        if !process.is_on_gpu() {
            return;
        }
        // After the unload the engine has returned the memory to the driver.
        let now = HighestMemory {
            peak: process.memory().peak,
            driver: process.driver_memory(),
        };
        let highest = &mut self.state().highest;
        *highest = highest.max(now);
    }

    /// The most memory of the models that this check has unloaded.
    pub(crate) fn highest_memory(&self) -> HighestMemory {
        self.state().highest
    }

    /// Ends the check: its processes are kept for the next one, unless they have ended.
    pub(crate) fn finish(&self) -> EngineEvidence {
        let CheckEngineState {
            attached, evidence, ..
        // Taken and not cloned, because a clone would keep the processes in use.
        } = std::mem::take(&mut *self.state());
        attached
            .into_iter()
            .for_each(|(key, process)| pool::give_back(key, process));
        evidence
    }

    fn state(&self) -> MutexGuard<'_, CheckEngineState> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Providers that are kept.
// Builds of ONNX Runtime have two or three.
const PROVIDERS: usize = 8;

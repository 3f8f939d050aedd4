//! The engine of the check that runs on this thread.

use super::{
    attach_error::AttachError,
    attached::AttachedEngine,
    pool::{self, Key},
};
use std::{cell::RefCell, sync::Arc};
use testgen_device::Device;
use testgen_engine::EngineName;

thread_local! {
    static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// The engine of a check, with the processes that it has used so far.
struct Scope {
    name: EngineName,
    attached: Vec<(Key, Arc<AttachedEngine>)>,
    evidence: EngineEvidence,
}

/// Facts about the engine that ran, for the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EngineEvidence {
    /// The versions of its libraries; none where it did not start.
    pub(crate) versions: Option<String>,
    /// A feature that the engine does not have.
    unsupported: Option<String>,
}

/// Runs `work` on an engine. Its processes are kept for the next check, unless they have ended.
///
/// `work` must not panic: it is a check, whose panics are caught within.
pub(crate) fn within<T>(name: &EngineName, work: impl FnOnce() -> T) -> (T, EngineEvidence) {
    let scope = Scope { name: name.clone(), attached: Vec::new(), evidence: EngineEvidence::default() };
    CURRENT.set(Some(scope));
    let result = work();
    let Some(scope) = CURRENT.take() else { return (result, EngineEvidence::default()) };
    scope.attached.into_iter().for_each(|(key, engine)| pool::give_back(key, engine));
    (result, scope.evidence)
}

/// The engine of the check that runs on this thread; none for the native one.
pub(crate) fn current() -> Option<EngineName> {
    CURRENT.with_borrow(|scope| scope.as_ref().map(|scope| scope.name.clone())).filter(|name| !name.is_native())
}

/// The feature that the engine of this check does not have, if it said so when it last opened a device or loaded a checkpoint.
pub(crate) fn unsupported() -> Option<String> {
    CURRENT.with_borrow(|scope| scope.as_ref().and_then(|scope| scope.evidence.unsupported.clone()))
}

/// Remembers what the engine does not have, which distinguishes a check that does not apply from one that fails; none before another load.
pub(super) fn set_unsupported(message: Option<&str>) {
    CURRENT.with_borrow_mut(|scope| {
        if let Some(scope) = scope {
            scope.evidence.unsupported = message.map(str::to_owned);
        }
    });
}

/// The engine of this check on `device`: the process that it has used before, one of an earlier check, or a new one.
pub(crate) fn attach(name: &EngineName, device: &Device) -> Result<Arc<AttachedEngine>, AttachError> {
    let key = Key::new(name, device);
    let known = CURRENT.with_borrow(|scope| {
        let attached = &scope.as_ref()?.attached;
        attached
            .iter()
            .find(|(other, engine)| *other == key && engine.is_running())
            .map(|(_, engine)| Arc::clone(engine))
    });
    if let Some(engine) = known {
        return Ok(engine);
    }
    let started = pool::take(&key, name, device);
    if let Err(AttachError::Unsupported(message)) = &started {
        set_unsupported(Some(message));
    }
    let engine = started?;
    CURRENT.with_borrow_mut(|scope| {
        if let Some(scope) = scope {
            scope.evidence.versions = Some(engine.versions());
            scope.attached.push((key, Arc::clone(&engine)));
        }
    });
    Ok(engine)
}

//! The engine of the check that runs on this thread.

use super::{
    attach_error::AttachError,
    attached::AttachedEngine,
    pool::{self, Key},
};
use std::{cell::RefCell, collections::BTreeMap, sync::Arc};
use testgen_device::Device;
use testgen_engine::{Computation, EngineName, Feature, Implementation};
use testgen_types::{Operator, ProviderShare, excerpt};

thread_local! {
    static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// The engine of a check, with the processes that it has used so far.
struct Scope {
    name: EngineName,
    attached: Vec<(Key, Arc<AttachedEngine>)>,
    evidence: EngineEvidence,
    /// The implementation that models are loaded with, in place of the column's own.
    implementation: Option<Implementation>,
}

/// Facts about the engine that ran, for the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EngineEvidence {
    /// The versions of its libraries; none where it did not start.
    pub(crate) versions: Option<String>,
    /// The execution providers of the first graph that was computed.
    pub(crate) providers: Vec<ProviderShare>,
    /// A feature that the engine does not have.
    unsupported: Option<String>,
    /// The features that the model loaded last does not have, with the reasons.
    lacks: BTreeMap<Feature, String>,
}

/// Runs `work` on an engine. Its processes are kept for the next check, unless they have ended.
///
/// `work` must not panic: it is a check, whose panics are caught within.
pub(crate) fn within<T>(name: &EngineName, work: impl FnOnce() -> T) -> (T, EngineEvidence) {
    let evidence = EngineEvidence::default();
    let scope = Scope { name: name.clone(), attached: Vec::new(), evidence, implementation: None };
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

/// The names of the implementations that the engine of this check has; empty before it has started.
pub(crate) fn implementations(of: Computation) -> Vec<String> {
    CURRENT.with_borrow(|scope| {
        let attached = scope.as_ref().and_then(|scope| scope.attached.last());
        attached.map(|(_, engine)| engine.engine().implementations(of).to_vec()).unwrap_or_default()
    })
}

/// The process that this check used last.
pub(super) fn last_attached() -> Option<Arc<AttachedEngine>> {
    CURRENT.with_borrow(|scope| {
        let attached = scope.as_ref().and_then(|scope| scope.attached.last());
        attached.map(|(_, engine)| Arc::clone(engine))
    })
}

/// Whether the engine of this check computes an operator, once it has started; the native one computes all.
pub(crate) fn computes(operator: Operator) -> bool {
    CURRENT.with_borrow(|scope| {
        let attached = scope.as_ref().and_then(|scope| scope.attached.last());
        attached.is_none_or(|(_, engine)| engine.engine().computes(operator))
    })
}

/// The implementation that models are loaded with; none for the column's own.
pub(super) fn implementation() -> Option<Implementation> {
    CURRENT.with_borrow(|scope| scope.as_ref().and_then(|scope| scope.implementation.clone()))
}

/// Whether the process that this check used last has ended.
pub(crate) fn has_ended() -> bool {
    CURRENT.with_borrow(|scope| {
        let attached = scope.as_ref().and_then(|scope| scope.attached.last());
        attached.is_some_and(|(_, engine)| !engine.is_running())
    })
}

/// Runs `work`, whose models are loaded with the implementation `name`. Returns its result, and the feature that the engine lacks for it.
pub(crate) fn with_implementation<T>(of: Computation, name: &str, work: impl FnOnce() -> T) -> (T, Option<String>) {
    set_implementation(Some(Implementation { of, name: name.to_owned() }));
    let result = with_own_implementation(work);
    set_implementation(None);
    result
}

/// Like [`with_implementation`], with the column's own one.
pub(crate) fn with_own_implementation<T>(work: impl FnOnce() -> T) -> (T, Option<String>) {
    let result = work();
    let unsupported = unsupported();
    // What one implementation lacks is not a reason to ignore the check: others are compared.
    set_unsupported(None);
    (result, unsupported)
}

fn set_implementation(implementation: Option<Implementation>) {
    CURRENT.with_borrow_mut(|scope| {
        if let Some(scope) = scope {
            scope.implementation = implementation;
        }
    });
}

/// Remembers what the engine does not have, which distinguishes a check that does not apply from one that fails; none before another load.
pub(super) fn set_unsupported(message: Option<&str>) {
    change(|evidence| evidence.unsupported = message.map(str::to_owned));
}

/// Why the model that this check has loaded does not have a feature; none where it has.
pub(crate) fn lacks(feature: Feature) -> Option<String> {
    CURRENT.with_borrow(|scope| scope.as_ref().and_then(|scope| scope.evidence.lacks.get(&feature).cloned()))
}

/// Remembers that the check uses a feature: where the loaded model lacks it, a failure without wrong numbers is not the model's.
pub(crate) fn needs(feature: Feature) {
    if let Some(reason) = lacks(feature) {
        set_unsupported(Some(&reason));
    }
}

/// Remembers what the loaded model lacks.
pub(super) fn set_lacks(lacks: BTreeMap<Feature, String>) {
    change(|evidence| evidence.lacks = lacks);
}

/// The execution providers that computed the first graph of this check; empty for an engine without graphs.
pub(crate) fn providers() -> Vec<ProviderShare> {
    CURRENT.with_borrow(|scope| scope.as_ref().map(|scope| scope.evidence.providers.clone())).unwrap_or_default()
}

/// Remembers the execution providers of the first call of a check: that of the precision in its name.
pub(super) fn set_providers(providers: &[testgen_engine::ProviderShare]) {
    change(|evidence| {
        if evidence.providers.is_empty() {
            let share = |share: &testgen_engine::ProviderShare| ProviderShare {
                provider: excerpt(&share.provider).into_owned(),
                nodes: share.nodes,
                microseconds: share.microseconds,
            };
            evidence.providers = providers.iter().take(PROVIDERS).map(share).collect();
        }
    });
}

/// Providers that are kept; builds of ONNX Runtime have two or three.
const PROVIDERS: usize = 8;

fn change(change: impl FnOnce(&mut EngineEvidence)) {
    CURRENT.with_borrow_mut(|scope| {
        if let Some(scope) = scope {
            change(&mut scope.evidence);
        }
    });
}

/// Remembers that the engine of this check does not compute `feature`, so that the check is ignored for that reason.
pub(crate) fn engine_lacks(feature: &str) {
    set_unsupported(Some(feature));
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

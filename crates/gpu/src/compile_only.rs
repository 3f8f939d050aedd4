//! Compiling kernels without running them.
//!
//! A process that fills the kernel cache runs the checks of a model, but compiles its share of the
//! kernels and launches none. So it finds all of them within seconds, and several processes compile
//! at the same time. Reading a tensor returns zeros.

use crate::launches;
use cubecl::stream_id::StreamId;
use cubecl_runtime::id::KernelId;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kernels that this process compiles: part `part` of `parts`, divided by their digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Less than `parts`.
    pub part: u64,
    /// At least one.
    pub parts: u64,
}

/// The treatment of a launch by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Execute,
    /// Compiles the kernel and does not run it.
    Compile,
    Skip,
}

#[derive(Default)]
struct CompileState {
    /// None: kernels are executed.
    share: Option<Share>,
    /// The streams of [`executing`].
    executing: HashSet<StreamId>,
    compiled: HashSet<KernelId>,
}

static STATE: Mutex<Option<CompileState>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<CompileState>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, this process compiles its share of the kernels that it launches and runs none,
/// except in [`executing`].
pub fn compile_only(share: Share) {
    state().get_or_insert_default().share = Some(share);
}

/// Runs the kernels that `work` launches on this thread although the process only compiles: a
/// device must be proven to compute before a model is loaded. To be called on a thread that has not
/// launched anything.
pub fn executing<T>(work: impl FnOnce() -> T) -> T {
    // Not removed afterwards: the server may launch later than this thread returns. Every thread
    // has its own stream.
    state()
        .get_or_insert_default()
        .executing
        .insert(StreamId::current());
    work()
}

pub(crate) fn executes(stream: StreamId) -> bool {
    state()
        .as_ref()
        .is_none_or(|state| state.share.is_none() || state.executing.contains(&stream))
}

pub(crate) fn action(stream: StreamId, kernel: &KernelId) -> Action {
    // Asked first, because the probe of a device has to compute even in a process that only
    // compiles.
    if executes(stream) {
        return Action::Execute;
    }
    let mut guard = state();
    let state = guard.get_or_insert_default();
    // By digests, which are the same in every process: none has to ask the others for its share.
    let own = state
        .share
        .is_some_and(|share| launches::number(kernel) % share.parts == share.part);
    // A kernel is launched many times, and cubecl stores it at the first compilation.
    if own && state.compiled.insert(kernel.clone()) {
        Action::Compile
    } else {
        Action::Skip
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Share, action, compile_only, executing};
    use cubecl::stream_id::StreamId;
    use cubecl_runtime::id::KernelId;

    struct Product;

    // One test, because the share belongs to the process.
    #[test]
    fn the_parts_together_compile_every_kernel_once_and_a_probe_is_executed() {
        let kernels: Vec<KernelId> = (0..40_u32)
            .map(|number| KernelId::new::<Product>().info(number))
            .collect();
        let stream = StreamId::current();
        assert!(
            kernels
                .iter()
                .all(|kernel| action(stream, kernel) == Action::Execute),
            "without a share"
        );
        let mut compiled = 0;
        for part in 0..3 {
            compile_only(Share { part, parts: 3 });
            let own = kernels
                .iter()
                .filter(|kernel| action(stream, kernel) == Action::Compile)
                .count();
            assert!((1..40).contains(&own), "{own}");
            compiled += own;
        }
        assert_eq!(compiled, kernels.len());
        let probe = std::thread::spawn({
            let kernel = kernels[0].clone();
            move || executing(|| action(StreamId::current(), &kernel))
        });
        assert_eq!(probe.join().expect("it does not panic"), Action::Execute);
        assert_eq!(action(stream, &kernels[0]), Action::Skip);
    }
}

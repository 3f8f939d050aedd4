//! Launches that wait for the device: what `HIP_LAUNCH_BLOCKING` and `CUDA_LAUNCH_BLOCKING` do, for
//! one thread of a running process.
//!
//! The drivers read these variables only when a process starts. Here the server of the device waits
//! after every launch of a thread, so that no two kernels of it overlap, and an error belongs to
//! the kernel that caused it.

use crate::launches;
use cubecl::stream_id::StreamId;
use cubecl_runtime::id::KernelId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The launches of [`blocking_launches`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockingLaunches {
    /// The kernels in the order of their first launch.
    pub kernels: Vec<Kernel>,
    /// The error of the first launch that failed, with the name of its kernel.
    pub error: Option<String>,
}

/// A kernel that was launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The path of its definition, without its type parameters.
    pub name: String,
    /// The digest of its name and all its parameters, 16 hexadecimal digits: the same on every
    /// machine.
    pub digest: String,
}

/// The launches of each thread that waits; every thread has its own stream.
static WAITING: Mutex<Option<HashMap<StreamId, BlockingLaunches>>> = Mutex::new(None);

fn waiting() -> MutexGuard<'static, Option<HashMap<StreamId, BlockingLaunches>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work`, whose launches on this thread wait for the device. `work` must read its results:
/// the server may launch later than a call returns, and what it launches after `work` does not
/// wait.
pub fn blocking_launches<T>(work: impl FnOnce() -> T) -> (T, BlockingLaunches) {
    let stream = StreamId::current();
    waiting()
        .get_or_insert_default()
        .insert(stream, BlockingLaunches::default());
    // A panic leaves the entry to the next call, which replaces it.
    let result = work();
    let launches = waiting()
        .as_mut()
        .and_then(|waiting| waiting.remove(&stream))
        .unwrap_or_default();
    (result, launches)
}

/// Whether the launches of a stream wait.
pub(crate) fn waits(stream: StreamId) -> bool {
    waiting()
        .as_ref()
        .is_some_and(|waiting| waiting.contains_key(&stream))
}

/// Adds a launch that has ended, with its error.
pub(crate) fn record(stream: StreamId, id: &KernelId, name: &str, error: Option<String>) {
    let kernel = Kernel {
        name: path(name).to_owned(),
        digest: launches::hexadecimal(id),
    };
    let mut guard = waiting();
    // The work can have ended while the server was still launching: such a launch belongs to no
    // record.
    let Some(launches) = guard.as_mut().and_then(|waiting| waiting.get_mut(&stream)) else {
        return;
    };
    if let Some(error) = error {
        // Only the first: errors of later launches can be its consequences.
        launches
            .error
            .get_or_insert_with(|| format!("{}: {error}", kernel.name));
    }
    // A model launches the same kernel for each of its layers; one entry says that it ran.
    if !launches.kernels.contains(&kernel) {
        launches.kernels.push(kernel);
    }
}

/// The name of a type without its parameters.
fn path(name: &str) -> &str {
    name.split_once('<').map_or(name, |(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::{BlockingLaunches, blocking_launches, path, record, waits};
    use cubecl::stream_id::StreamId;
    use cubecl_runtime::id::KernelId;

    struct Product;

    #[test]
    fn launches_wait_on_this_thread_and_within_the_call_only() {
        let stream = StreamId::current();
        let id = |parameter: u32| KernelId::new::<Product>().info(parameter);
        let launch = |parameter, error: Option<&str>| {
            record(
                stream,
                &id(parameter),
                "a::Product<f32, b::C>",
                error.map(str::to_owned),
            );
        };
        assert!(!waits(stream));
        let ((), launches) = blocking_launches(|| {
            assert!(waits(stream));
            let other = std::thread::spawn(|| waits(StreamId::current()))
                .join()
                .expect("it does not panic");
            assert!(!other);
            launch(1, None);
            launch(2, Some("an illegal address"));
            launch(1, Some("the same again"));
        });
        assert!(!waits(stream));
        assert_eq!(
            launches.error.as_deref(),
            Some("a::Product: an illegal address")
        );
        let names: Vec<&str> = launches
            .kernels
            .iter()
            .map(|kernel| kernel.name.as_str())
            .collect();
        assert_eq!(names, ["a::Product", "a::Product"]);
        assert_ne!(launches.kernels[0].digest, launches.kernels[1].digest);
        assert_eq!(launches.kernels[0].digest.len(), 16);
        launch(1, None);
        assert_eq!(blocking_launches(|| ()).1, BlockingLaunches::default());
    }

    #[test]
    fn names_have_no_parameters() {
        assert_eq!((path("a::B<c::D<E>>"), path("a::B")), ("a::B", "a::B"));
    }
}

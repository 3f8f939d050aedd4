//! The second stream of a thread, on which tensors are put on a device while the first computes.
//!
//! In cubecl each thread has one stream, with memory for its tensors. A kernel that reads a tensor
//! of the second stream waits for the copy; the memory of a dropped tensor is another one's at
//! once, so that a tensor is dropped after the kernels that read it.

use cubecl::stream_id::StreamId;
use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

thread_local! {
    /// The second stream of this thread, once it was used.
    static OF_THREAD: Cell<Option<StreamId>> = const { Cell::new(None) };
}

/// The first stream of a thread, by its second.
static OWNERS: Mutex<Option<HashMap<StreamId, StreamId>>> = Mutex::new(None);

/// The second stream of the calling thread.
pub(crate) fn second() -> StreamId {
    if let Some(known) = OF_THREAD.get() {
        return known;
    }
    // cubecl numbers the streams of threads; a stream of our own choice could be another thread's.
    let new = thread::spawn(StreamId::current)
        .join()
        .expect("it does not panic");
    owners()
        .get_or_insert_default()
        .insert(new, StreamId::current());
    OF_THREAD.set(Some(new));
    new
}

/// The stream that computes with the tensors of `stream`: the first of its thread.
pub(crate) fn owner(stream: StreamId) -> StreamId {
    let owners = owners();
    let owner = owners.as_ref().and_then(|owners| owners.get(&stream));
    // A stream that is not registered is the first one of its thread.
    owner.copied().unwrap_or(stream)
}

/// The streams of the thread whose first stream is `owner`.
pub(crate) fn streams(owner: StreamId) -> Vec<StreamId> {
    let owners = owners();
    let second = owners
        .iter()
        .flatten()
        .filter(|(_, first)| **first == owner);
    [owner]
        .into_iter()
        .chain(second.map(|(second, _)| *second))
        .collect()
}

fn owners() -> MutexGuard<'static, Option<HashMap<StreamId, StreamId>>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{owner, second, streams};
    use cubecl::stream_id::StreamId;

    #[test]
    fn a_thread_has_one_second_stream() {
        let first = StreamId::current();
        assert_eq!(streams(first), [first]);
        let second = second();
        assert_ne!(second, first);
        assert_eq!(super::second(), second);
        assert_eq!((owner(second), owner(first)), (first, first));
        assert_eq!(streams(first), [first, second]);
    }
}

//! Writing a file with all processors.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Calls `work` for each number below `count`; every thread takes the next one until there is none,
/// or a call fails.
pub(crate) fn for_each(
    count: usize,
    work: impl Fn(usize, &mut Vec<u8>) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        // One for each thread, so that it is not allocated each time.
        let mut buffer = Vec::new();
        loop {
            // Relaxed: the threads share the number only, and the join orders what they wrote.
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(());
            }
            if let Err(error) = work(index, &mut buffer) {
                // The other threads take no further number: the rest of a file that cannot be
                // written is not computed.
                next.store(count, Ordering::Relaxed);
                return Err(error);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread of the writer panicked")))
        });
        // All are joined before the first error is returned.
        results.collect::<Vec<_>>().into_iter().collect()
    })
}

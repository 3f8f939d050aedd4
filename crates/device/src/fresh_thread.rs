//! Running a query on a new thread.

/// Runs `work` on a new thread.
pub(crate) fn on_fresh_thread<Answer: Send>(
    work: impl FnOnce() -> Option<Answer> + Send,
) -> Option<Answer> {
    // The current device of HIP and the current context of CUDA belong to a thread, and the
    // caller's must not change.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("testgen-device".to_owned());
        thread.spawn_scoped(scope, work).ok()?.join().ok()?
    })
}

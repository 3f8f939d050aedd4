//! The global allocator: mimalloc, counted, because the CPU backend does not count its memory.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that the program asked for and has not given back.
// Padding and what the allocator keeps are not in it.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
/// The most that `IN_USE` was since the last reset.
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// mimalloc that counts. The counters are process-wide and relaxed: exact once the threads that
/// allocate have been joined, at most a few allocations off while they run.
pub struct CountingAllocator;

/// Bytes of the heap in use.
pub fn in_use() -> u64 {
    IN_USE.load(Relaxed) as u64
}

/// The most bytes of the heap that were in use since [`reset_peak`].
pub fn peak() -> u64 {
    PEAK.load(Relaxed) as u64
}

/// Starts a new measurement of the peak at what is in use now.
pub fn reset_peak() {
    PEAK.store(IN_USE.load(Relaxed), Relaxed);
}

fn grow(bytes: usize) {
    let now = IN_USE.fetch_add(bytes, Relaxed) + bytes;
    // Reads first: a write in every allocation would pass the cache line from thread to thread.
    if now > PEAK.load(Relaxed) {
        PEAK.fetch_max(now, Relaxed);
    }
}

fn shrink(bytes: usize) {
    IN_USE.fetch_sub(bytes, Relaxed);
}

/// Bytes outside the heap that count as in use while this is there.
pub struct HeldBytes(usize);

impl HeldBytes {
    /// Counts `bytes` as in use until it is dropped.
    pub fn new(bytes: usize) -> Self {
        grow(bytes);
        Self(bytes)
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        shrink(self.0);
    }
}

// SAFETY: every method passes the caller's arguments to mimalloc unchanged and returns its result,
// so the contract of `GlobalAlloc` holds as it holds for mimalloc; counting neither allocates nor
// panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is the same here.
        let pointer = unsafe { MiMalloc.alloc(layout) };
        if !pointer.is_null() {
            grow(layout.size());
        }
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`, which is the same
        // here.
        let pointer = unsafe { MiMalloc.alloc_zeroed(layout) };
        if !pointer.is_null() {
            grow(layout.size());
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the pointer came from mimalloc with this layout, as the caller promises.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the pointer came from mimalloc with this layout, as the caller promises.
        let moved = unsafe { MiMalloc.realloc(pointer, layout, new_size) };
        if !moved.is_null() {
            // Before the old size is taken off, because both blocks exist while the content is
            // moved.
            grow(new_size);
            shrink(layout.size());
        }
        moved
    }
}

//! The most memory that the tensors of each thread held, by the allocator's own account.
//!
//! cubecl reports what is in use now. Only an allocation can make that larger, so it is read after
//! each of them.

use crate::device::GpuDevice;
use cubecl::stream_id::StreamId;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Bytes by device and the first stream of a thread.
static PEAKS: Mutex<Option<HashMap<(GpuDevice, StreamId), u64>>> = Mutex::new(None);

/// Records that the tensors of the thread of a stream hold `bytes` now.
pub(crate) fn record(device: GpuDevice, stream: StreamId, bytes: u64) {
    let mut peaks = lock();
    let peak = peaks
        .get_or_insert_default()
        .entry((device, stream))
        .or_default();
    *peak = bytes.max(*peak);
}

/// The most bytes that the tensors of the calling thread held since [`reset_memory_peak`]; none if
/// it allocated nothing.
pub(crate) fn of_thread(device: GpuDevice) -> Option<u64> {
    lock()
        .as_ref()?
        .get(&(device, StreamId::current()))
        .copied()
}

/// Starts a new measurement of the peak of the calling thread, on every device.
pub fn reset_memory_peak() {
    let current = StreamId::current();
    if let Some(peaks) = lock().as_mut() {
        // The peaks of other threads stay: they measure their own checks.
        peaks.retain(|(_, stream), _| *stream != current);
    }
}

fn lock() -> MutexGuard<'static, Option<HashMap<(GpuDevice, StreamId), u64>>> {
    PEAKS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, feature = "rocm"))]
mod tests {
    use super::{of_thread, record, reset_memory_peak};
    use crate::device::GpuDevice;
    use cubecl::stream_id::StreamId;

    #[test]
    fn a_peak_is_that_of_one_device_and_thread() {
        let (first, second) = (GpuDevice::rocm(100), GpuDevice::rocm(101));
        let stream = StreamId::current();
        for bytes in [5, 9, 3] {
            record(first, stream, bytes);
        }
        assert_eq!((of_thread(first), of_thread(second)), (Some(9), None));
        std::thread::spawn(move || {
            assert_eq!(of_thread(first), None);
            record(first, StreamId::current(), 1);
            reset_memory_peak();
        })
        .join()
        .expect("the other thread has its own peak");
        assert_eq!(of_thread(first), Some(9));
        reset_memory_peak();
        assert_eq!(of_thread(first), None);
    }
}

//! TF32: whether the calling thread's f32 products may be computed by matrix units, and whether a
//! device can do so.
//!
//! Products are launched on the thread that calls an operation, so the permission is the thread's.

use crate::{device::GpuDevice, runtime::GpuRuntime};
use cubecl::{
    Runtime as _, client::ComputeClient, ir::StorageType, prelude::CubePrimitive as _, tf32,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static PERMITTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `run`; on a device with matrix units for TF32, they compute the f32 products that fill a
/// tile.
pub fn with_tf32<T>(run: impl FnOnce() -> T) -> T {
    // A guard, because the panic of a check is caught and its thread runs other checks.
    let _restore = Restore(PERMITTED.replace(true));
    run()
}

/// Restores the permission when it is dropped.
// Also after a panic, which must not leave TF32 permitted.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        PERMITTED.set(self.0);
    }
}

/// Whether the calling thread is within [`with_tf32`].
pub(crate) fn is_permitted() -> bool {
    PERMITTED.get()
}

/// The type that matrix units multiply in TF32.
pub(crate) fn storage_type() -> StorageType {
    tf32::as_type_native_unchecked().storage_type()
}

/// Whether the device has matrix units for TF32; false for a device that does not answer.
pub fn has_tf32(device: GpuDevice) -> bool {
    // cubecl panics when its device thread has panicked before.
    let answer = catch_unwind(AssertUnwindSafe(|| {
        has_matrix_units(&GpuRuntime::client(&device), storage_type())
    }));
    answer.unwrap_or(false)
}

/// Whether cubecl lists matrix units for factors of the type.
pub(crate) fn has_matrix_units(client: &ComputeClient<GpuRuntime>, factor: StorageType) -> bool {
    client
        .properties()
        .features
        .matmul
        .cmma
        .iter()
        .any(|shape| shape.a_type == factor)
}

#[cfg(test)]
mod tests {
    use super::{is_permitted, with_tf32};
    use std::panic::catch_unwind;

    #[test]
    fn the_permission_ends_with_the_call_also_by_a_panic() {
        assert!(!is_permitted());
        assert!(with_tf32(|| with_tf32(is_permitted) && is_permitted()));
        assert!(!is_permitted());
        assert!(catch_unwind(|| with_tf32(|| panic!("a kernel fails"))).is_err());
        assert!(!is_permitted());
    }

    #[test]
    fn other_threads_are_not_affected() {
        let elsewhere = || {
            std::thread::spawn(is_permitted)
                .join()
                .expect("it does not panic")
        };
        assert!(!with_tf32(elsewhere));
    }
}

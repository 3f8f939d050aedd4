//! The storage of [`GpuServer`](crate::GpuServer), which the servers below it own.

use cubecl::server::IoError;
use cubecl_runtime::storage::{ComputeStorage, StorageHandle, StorageId};
use std::convert::Infallible;

/// No value has this type: cubecl's trait requires one, and the servers own their storage.
#[derive(Debug)]
pub struct NoStorage(Infallible);

impl ComputeStorage for NoStorage {
    type Resource = Infallible;

    fn alignment(&self) -> usize {
        // A match without an arm compiles because the type has no value: the method cannot be
        // called.
        match self.0 {}
    }

    fn get(&mut self, _: &StorageHandle) -> Infallible {
        self.0
    }

    fn alloc(&mut self, _: u64) -> Result<StorageHandle, IoError> {
        match self.0 {}
    }

    fn dealloc(&mut self, _: StorageId) {}

    fn flush(&mut self) {}
}

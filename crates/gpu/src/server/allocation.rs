//! Allocations within the limit of a test, and the most bytes that were in use.

use super::{GpuServer, Server};
use crate::{out_of_memory, peak};
use cubecl::server::ComputeServer;
use cubecl::stream_id::StreamId;
use cubecl_runtime::memory_management::ManagedMemoryHandle;

impl GpuServer {
    /// Allocates, unless the limit forbids it.
    pub(super) fn try_to_initialize(
        &mut self,
        memory: &ManagedMemoryHandle,
        size: u64,
        stream: StreamId,
    ) -> Result<(), String> {
        // A stream in error does not report its usage; its results are invalid in any case.
        let in_use = || {
            self.memory_usage(stream)
                .ok()
                .map(|usage| usage.bytes_in_use)
        };
        if !out_of_memory::within_limit(in_use, size) {
            return Err(out_of_memory::BEYOND_LIMIT.to_owned());
        }
        let memory = memory.clone();
        out_of_memory::tried(
            || with_server!(self, server => server.initialize_memory(memory, size, stream)),
        )?;
        if let Ok(usage) = self.memory_usage(stream) {
            peak::record(self.device, stream, usage.bytes_in_use);
        }
        Ok(())
    }
}

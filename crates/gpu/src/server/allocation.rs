//! Allocations within the limit of a test, and the most bytes that were in use.

use super::{GpuServer, Server};
use crate::{copy_stream, out_of_memory, peak};
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
        let owner = copy_stream::owner(stream);
        // A closure, because asking every stream for its memory is only needed if there is a limit.
        if !out_of_memory::within_limit(|| self.in_use(owner), size) {
            return Err(out_of_memory::BEYOND_LIMIT.to_owned());
        }
        let memory = memory.clone();
        out_of_memory::tried(
            || with_server!(self, server => server.initialize_memory(memory, size, stream)),
        )?;
        // For the owner: the copies of a second stream are memory of the thread that started them.
        peak::record(self.device, owner, self.in_use(owner));
        Ok(())
    }

    /// The bytes that the tensors of a thread hold, whose first stream is `owner`.
    fn in_use(&mut self, owner: StreamId) -> u64 {
        let streams = copy_stream::streams(owner).into_iter();
        // A stream in error does not report its usage; its results are invalid in any case.
        streams
            .filter_map(|stream| self.memory_usage(stream).ok())
            .map(|usage| usage.bytes_in_use)
            .sum()
    }
}

//! Launches: of a kernel on the server of the interface, and of a library's computation in its place.

use super::{GpuServer, Server};
use crate::{
    library_launch::LibraryLaunch, lowering::Lowered, out_of_memory, unlowered::Unlowered,
};
use cubecl::server::{ComputeServer, KernelArguments};
use cubecl::stream_id::StreamId;
use cubecl::{CubeCount, CubeTask, ExecutionMode};
use std::any::Any;
use std::panic::resume_unwind;
use testgen_types::panic_text;

impl GpuServer {
    /// Passes a launch on to the server of the interface.
    ///
    /// # Safety
    ///
    /// As [`ComputeServer::launch`].
    pub(super) unsafe fn launch_on_device(
        &mut self,
        kernel: Box<dyn CubeTask<Unlowered>>,
        count: CubeCount,
        arguments: KernelArguments,
        mode: ExecutionMode,
        stream: StreamId,
    ) {
        // SAFETY: the caller's promise is passed on.
        unsafe {
            match &mut self.server {
                #[cfg(feature = "cuda")]
                Server::Cuda(server) => {
                    server.launch(
                        Lowered::<cubecl::cuda::CudaRuntime>::task(kernel),
                        count,
                        arguments,
                        mode,
                        stream,
                    );
                }
                #[cfg(feature = "rocm")]
                Server::Rocm(server) => {
                    server.launch(
                        Lowered::<cubecl::hip::HipRuntime>::task(kernel),
                        count,
                        arguments,
                        mode,
                        stream,
                    );
                }
            }
        }
    }

    /// Starts a computation of the vendor's library in the place of a kernel.
    pub(super) fn call_library(
        &mut self,
        launch: &LibraryLaunch,
        arguments: KernelArguments,
        stream: StreamId,
    ) -> Result<(), String> {
        let mut addresses = Vec::new();
        // Held until the computation is in the queue of the device, so that nothing else gets them.
        let mut held: Vec<Box<dyn Any>> = Vec::new();
        for binding in arguments.buffers {
            let (address, resource) = self.address(binding, stream)?;
            addresses.push(address);
            held.push(resource);
        }
        launch.start(&addresses, || {
            // A closure, because most drivers order the streams themselves, and waiting would stop
            // the host at every product.
            cubecl::future::block_on(self.sync(stream)).map_err(|error| format!("{error:?}"))
        })
    }

    /// Ends a launch that panicked. The arguments of a kernel are copied to memory that is
    /// allocated for them.
    pub(super) fn fail_launch(&mut self, payload: Box<dyn Any + Send>, stream: StreamId) {
        if out_of_memory::is_refused(panic_text(payload.as_ref())) {
            panic!(
                "{}",
                out_of_memory::message(self.device, None, self.memory_usage(stream).ok())
            );
        }
        // Any other panic keeps its payload, from which the check takes its message.
        resume_unwind(payload)
    }
}

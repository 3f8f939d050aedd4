//! The driver's part of a copy between two devices.

use super::{GpuServer, Server};
use crate::driver_memory::DriverMemory;
use cubecl::server::{Binding, ComputeServer as _};
use cubecl::stream_id::StreamId;
use std::any::Any;

impl GpuServer {
    /// The address of a binding, and what keeps other tensors from it.
    pub(super) fn address(
        &mut self,
        binding: Binding,
        stream: StreamId,
    ) -> Result<(u64, Box<dyn Any>), String> {
        match &mut self.server {
            #[cfg(feature = "cuda")]
            Server::Cuda(server) => {
                let resource = server.get_resource(binding, stream);
                let resource = resource.map_err(|error| format!("{error:?}"))?;
                Ok((resource.resource().ptr, Box::new(resource)))
            }
            #[cfg(feature = "rocm")]
            Server::Rocm(server) => {
                let resource = server.get_resource(binding, stream);
                let resource = resource.map_err(|error| format!("{error:?}"))?;
                Ok((resource.resource().ptr as u64, Box::new(resource)))
            }
        }
    }

    /// The memory of a binding, when the work of `stream` is done.
    pub(crate) fn in_driver(
        &mut self,
        binding: Binding,
        stream: StreamId,
    ) -> Result<DriverMemory, String> {
        let (address, _held) = self.address(binding, stream)?;
        cubecl::future::block_on(self.sync(stream)).map_err(|error| format!("{error:?}"))?;
        let owner = match &self.server {
            #[cfg(feature = "cuda")]
            // On the server's thread, where cubecl has made the context current.
            Server::Cuda(_) => cuda::current_context()?,
            #[cfg(feature = "rocm")]
            Server::Rocm(_) => u64::from(self.device.index()),
        };
        Ok(DriverMemory { address, owner })
    }

    /// Copies `size` bytes from memory of another device to memory of this one.
    pub(crate) fn copy_from_peer(
        &mut self,
        [from, to]: [DriverMemory; 2],
        size: usize,
    ) -> Result<(), String> {
        match &self.server {
            #[cfg(feature = "cuda")]
            Server::Cuda(_) => cuda::copy(from, to, size),
            #[cfg(feature = "rocm")]
            Server::Rocm(_) => rocm::copy(from, to, size),
        }
    }
}

/// CUDA's driver, which cubecl's server has made current for this thread.
#[cfg(feature = "cuda")]
mod cuda {
    use super::DriverMemory;
    use cudarc::driver::{DriverError, sys};
    use std::ptr;

    pub(super) fn current_context() -> Result<u64, String> {
        let mut context = ptr::null_mut();
        // SAFETY: `context` can be written.
        unsafe { sys::cuCtxGetCurrent(&mut context) }
            .result()
            .map_err(described)?;
        Ok(context as u64)
    }

    pub(super) fn copy(from: DriverMemory, to: DriverMemory, size: usize) -> Result<(), String> {
        let source = from.owner as sys::CUcontext;
        // Without access the driver copies through the host, so that an error here is not the
        // copy's; access that was enabled before is an error, too. SAFETY: a context of the driver,
        // which lives as long as the process.
        let _ = unsafe { sys::cuCtxEnablePeerAccess(source, 0) };
        // SAFETY: both memories have `size` bytes, and their owners hold them until the copy is
        // done, which the next call waits for.
        unsafe { sys::cuMemcpyPeer(to.address, to.owner as _, from.address, source, size) }
            .result()
            .map_err(described)?;
        // A copy from device to device may return before it is done. SAFETY: a context is current.
        unsafe { sys::cuCtxSynchronize() }
            .result()
            .map_err(described)
    }

    fn described(error: DriverError) -> String {
        format!("{error:?}")
    }
}

/// HIP's runtime.
#[cfg(feature = "rocm")]
mod rocm {
    use super::DriverMemory;
    use cubecl_hip_sys::{HIP_SUCCESS, hipMemcpyPeer};

    pub(super) fn copy(from: DriverMemory, to: DriverMemory, size: usize) -> Result<(), String> {
        // SAFETY: both memories have `size` bytes, and their owners hold them until the copy is
        // done. HIP copies synchronously between devices.
        let status = unsafe {
            hipMemcpyPeer(
                to.address as *mut _,
                to.owner as i32,
                from.address as *const _,
                from.owner as i32,
                size,
            )
        };
        if status == HIP_SUCCESS {
            Ok(())
        } else {
            Err(format!("hipMemcpyPeer returned {status}"))
        }
    }
}

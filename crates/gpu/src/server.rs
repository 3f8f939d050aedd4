//! The server of [`GpuRuntime`](crate::GpuRuntime): cubecl's CUDA or HIP server, with a record of
//! the launched kernels.

use crate::device::{GpuDevice, GpuInterface};
use crate::{
    blocking,
    compile_only::{self, Action},
    copy_stream, launches, library_task,
    no_storage::NoStorage,
    out_of_memory, parts,
    unlowered::Unlowered,
};
use cubecl::bytes::Bytes;
use cubecl::device::{Device, DeviceId, DeviceService, ServerUtilitiesHandle};
use cubecl::future::DynFut;
use cubecl::profile::ProfileDuration;
use cubecl::server::{
    Binding, ComputeServer, CopyDescriptor, IoError, KernelArguments, ProfileError, ProfilingToken,
    ServerCommunication, ServerError, ServerUtilities,
};
use cubecl::stream_id::StreamId;
use cubecl::{
    CubeCount, CubeTask, ExecutionMode, MemoryAllocationMode, MemoryUsage, Runtime,
    backtrace::BackTrace,
};
use cubecl_runtime::{
    allocator::PitchedMemoryLayoutPolicy, logging::ServerLogger,
    memory_management::ManagedMemoryHandle, storage::ManagedResource,
};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// cubecl's server for the device's interface.
#[derive(Debug)]
pub struct GpuServer {
    server: Server,
    utilities: Arc<ServerUtilities<Self>>,
    device: GpuDevice,
    /// The streams that have allocated memory.
    streams: HashSet<StreamId>,
    /// The bytes that each stream has copied to the device since its last flush.
    uploaded: HashMap<StreamId, u64>,
}

/// The bytes that a stream copies before it is flushed.
// cubecl-runtime 0.10 keeps what it copies until the next flush but one, and counts it in 32 bits
// (`drop_queue/policy.rs`). What is kept is pinned memory, which takes long to allocate and which
// the host cannot use for anything else.
const FLUSHED_AFTER: u64 = 1 << 25;

#[derive(Debug)]
enum Server {
    #[cfg(feature = "cuda")]
    Cuda(<cubecl::cuda::CudaRuntime as Runtime>::Server),
    #[cfg(feature = "rocm")]
    Rocm(<cubecl::hip::HipRuntime as Runtime>::Server),
}

/// Evaluates `$call` with the server of the interface as `$server`.
macro_rules! with_server {
    ($self:ident, $server:ident => $call:expr) => {
        match &mut $self.server {
            #[cfg(feature = "cuda")]
            Server::Cuda($server) => $call,
            #[cfg(feature = "rocm")]
            Server::Rocm($server) => $call,
        }
    };
}

mod allocation;
mod launch;
mod peer;

impl GpuServer {
    fn new<S>(device: GpuDevice, server: S, wrap: impl FnOnce(S) -> Server) -> Self
    where
        S: ComputeServer<Info = (), MemoryLayoutPolicy = PitchedMemoryLayoutPolicy>,
    {
        let properties = ComputeServer::utilities(&server).properties.clone();
        // As both servers set theirs.
        let policy = PitchedMemoryLayoutPolicy::new(properties.memory.alignment as usize);
        let utilities = Arc::new(ServerUtilities::new(
            properties,
            server.logger(),
            (),
            policy,
        ));
        Self {
            server: wrap(server),
            utilities,
            device,
            streams: HashSet::new(),
            uploaded: HashMap::new(),
        }
    }
}

impl DeviceService for GpuServer {
    fn init(id: DeviceId) -> Self {
        // The bits of the type are of this crate: cubecl's servers know a single type each.
        let inner = DeviceId::new(0, id.index_id);
        let device = GpuDevice::from_id(id);
        match device.interface() {
            #[cfg(feature = "cuda")]
            GpuInterface::Cuda => Self::new(device, DeviceService::init(inner), Server::Cuda),
            #[cfg(feature = "rocm")]
            GpuInterface::Rocm => Self::new(device, DeviceService::init(inner), Server::Rocm),
            #[cfg(not(all(feature = "cuda", feature = "rocm")))]
            _ => {
                panic!("{device:?} cannot be opened: this binary was built without it ({inner:?})")
            }
        }
    }

    fn utilities(&self) -> ServerUtilitiesHandle {
        Arc::clone(&self.utilities) as ServerUtilitiesHandle
    }
}

/// Without collectives: `peer` copies between GPUs.
impl ServerCommunication for GpuServer {
    const SERVER_COMM_ENABLED: bool = false;
}

impl ComputeServer for GpuServer {
    type Kernel = Box<dyn CubeTask<Unlowered>>;
    type Info = ();
    type MemoryLayoutPolicy = PitchedMemoryLayoutPolicy;
    type Storage = NoStorage;

    fn initialize_memory(&mut self, memory: ManagedMemoryHandle, size: u64, stream: StreamId) {
        self.streams.insert(stream);
        let Err(first) = self.try_to_initialize(&memory, size, stream) else {
            return;
        };
        if out_of_memory::is_refused(&first) {
            // What earlier checks no longer use is still reserved by their streams.
            self.streams
                .clone()
                .into_iter()
                // Of every stream, because each of them reserves memory for itself.
                .for_each(|other| self.memory_cleanup(other));
        }
        // Also after another error, so that what is reported is the error of an attempt with all
        // the memory that there is.
        match self.try_to_initialize(&memory, size, stream) {
            Ok(()) => {}
            Err(again) if out_of_memory::is_refused(&again) => {
                panic!(
                    "{}",
                    out_of_memory::message(self.device, Some(size), self.memory_usage(stream).ok())
                )
            }
            // Another error is reported as cubecl words it.
            Err(again) => panic!("{again}"),
        }
    }

    fn staging(&mut self, sizes: &[usize], stream: StreamId) -> Result<Vec<Bytes>, ServerError> {
        with_server!(self, server => server.staging(sizes, stream))
    }

    fn logger(&self) -> Arc<ServerLogger> {
        Arc::clone(&self.utilities.logger)
    }

    fn utilities(&self) -> Arc<ServerUtilities<Self>> {
        Arc::clone(&self.utilities)
    }

    fn read(
        &mut self,
        copies: Vec<CopyDescriptor>,
        stream: StreamId,
    ) -> DynFut<Result<Vec<Bytes>, ServerError>> {
        let (parts, counts) = parts::parts_of_all(copies);
        let read =
            (!parts.is_empty()).then(|| with_server!(self, server => server.read(parts, stream)));
        // Before the future, which the caller may await when the stream has changed its state.
        let executes = compile_only::executes(copy_stream::owner(stream));
        Box::pin(async move {
            let mut read = match read {
                Some(read) => read.await?,
                None => Vec::new(),
            };
            if !executes {
                // The memory was not written: code on the host must not depend on chance.
                read.iter_mut().for_each(|bytes| bytes.fill(0));
            }
            Ok(counts
                .into_iter()
                .map(|count| parts::joined(read.drain(..count)))
                .collect())
        })
    }

    fn write(&mut self, copies: Vec<(CopyDescriptor, Bytes)>, stream: StreamId) {
        let copies: Vec<_> = copies
            .into_iter()
            // cubecl-hip 0.10 copies at least one row, also of a tensor of no rows, past the end of
            // both buffers.
            .filter(|(copy, _)| copy.shape.iter().product::<usize>() > 0)
            .collect();
        let bytes: usize = copies.iter().map(|(_, bytes)| bytes.len()).sum();
        with_server!(self, server => server.write(copies, stream));
        let uploaded = self.uploaded.entry(stream).or_default();
        *uploaded += bytes as u64;
        if *uploaded >= FLUSHED_AFTER {
            self.flush(stream)
                .unwrap_or_else(|error| panic!("a copy to the device failed: {error:?}"));
        }
    }

    fn sync(&mut self, stream: StreamId) -> DynFut<Result<(), ServerError>> {
        with_server!(self, server => server.sync(stream))
    }

    /// Refused.
    fn get_resource(
        &mut self,
        _binding: Binding,
        _stream: StreamId,
    ) -> Result<ManagedResource<Infallible>, ServerError> {
        // Nothing in burn asks for the address of an allocation.
        Err(IoError::UnsupportedIoOperation {
            backtrace: BackTrace::capture(),
        }
        .into())
    }

    unsafe fn launch(
        &mut self,
        kernel: Self::Kernel,
        count: CubeCount,
        arguments: KernelArguments,
        mode: ExecutionMode,
        stream: StreamId,
    ) {
        let (id, owner) = (kernel.id(), copy_stream::owner(stream));
        let action = compile_only::action(owner, &id);
        // Before the action, because a computation of a library has no source that could be
        // compiled ahead.
        if let Some(computation) = library_task::launched(kernel.as_ref()) {
            // Nothing is compiled for it.
            if action == Action::Execute {
                launches::record(owner, id);
                self.call_library(&computation, arguments, stream)
                    .unwrap_or_else(|error| {
                        panic!("{} did not compute: {error}", computation.library)
                    });
            }
            return;
        }
        match action {
            Action::Execute => {
                // Taken before the launch, which consumes the kernel.
                let waits = blocking::waits(owner).then(|| (id.clone(), kernel.name()));
                launches::record(owner, id);
                // SAFETY: the caller's promise is passed on.
                let launch =
                    || unsafe { self.launch_on_device(kernel, count, arguments, mode, stream) };
                let launched = catch_unwind(AssertUnwindSafe(launch));
                launched.unwrap_or_else(|payload| self.fail_launch(payload, stream));
                if let Some((id, name)) = waits {
                    let error = cubecl::future::block_on(self.sync(stream)).err();
                    blocking::record(owner, &id, name, error.map(|error| format!("{error:?}")));
                }
            }
            Action::Compile => {
                // cubecl compiles a kernel when it launches it. A grid without blocks is refused
                // after that, and `flush` removes the error. SAFETY: no thread runs.
                unsafe {
                    self.launch_on_device(
                        kernel,
                        CubeCount::Static(0, 0, 0),
                        arguments,
                        mode,
                        stream,
                    )
                };
                drop(self.flush(stream));
            }
            Action::Skip => {}
        }
    }

    fn flush(&mut self, stream: StreamId) -> Result<(), ServerError> {
        self.uploaded.remove(&stream);
        with_server!(self, server => server.flush(stream))
    }

    fn memory_usage(&mut self, stream: StreamId) -> Result<MemoryUsage, ServerError> {
        with_server!(self, server => server.memory_usage(stream))
    }

    fn memory_cleanup(&mut self, stream: StreamId) {
        with_server!(self, server => server.memory_cleanup(stream));
    }

    fn start_profile(&mut self, stream: StreamId) -> Result<ProfilingToken, ServerError> {
        with_server!(self, server => server.start_profile(stream))
    }

    fn end_profile(
        &mut self,
        stream: StreamId,
        token: ProfilingToken,
    ) -> Result<ProfileDuration, ProfileError> {
        with_server!(self, server => server.end_profile(stream, token))
    }

    fn allocation_mode(&mut self, mode: MemoryAllocationMode, stream: StreamId) {
        with_server!(self, server => server.allocation_mode(mode, stream));
    }
}

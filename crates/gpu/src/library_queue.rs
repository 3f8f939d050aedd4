//! Queues computations of the vendor's libraries between the kernels of a device.

use crate::{
    library_launch::{LibraryComputation, LibraryLaunch},
    library_task::LibraryTask,
    runtime::{GpuRuntime, GpuTensor},
};
use cubecl::{CubeCount, Runtime as _, server::KernelArguments};
use std::sync::Arc;

/// Queues a computation of `library`, its name and version, on the device of its tensors: two inputs,
/// the result, and the bias of a product with one.
pub(crate) fn launch(library: Arc<str>, computation: LibraryComputation, tensors: &[&GpuTensor]) {
    let device = tensors[0].device;
    let task = LibraryTask(LibraryLaunch {
        device,
        library,
        computation,
    });
    let buffers = tensors.iter().map(|tensor| tensor.handle.clone().binding());
    let arguments = KernelArguments::new().with_buffers(buffers.collect());
    GpuRuntime::client(&device).launch(Box::new(task), CubeCount::new_single(), arguments);
}

//! A computation of a library in the place of a kernel: it passes through burn's and cubecl's queues
//! as one.

use crate::{
    library_launch::{LibraryComputation, LibraryLaunch},
    unlowered::{Launched, Unlowered, UnloweredKernel},
};
use cubecl::{
    CompilationError, CubeTask, ExecutionMode,
    ir::{AddressType, StorageType},
};
use cubecl_runtime::{
    id::KernelId,
    kernel::{CompiledKernel, KernelMetadata},
};
use std::sync::Arc;

/// The computation as a kernel.
#[derive(Debug)]
pub(crate) struct LibraryTask(pub(crate) LibraryLaunch);

/// The name that distinguishes it from kernels.
const NAME: &str = "library_call";

impl KernelMetadata for LibraryTask {
    fn name(&self) -> &'static str {
        NAME
    }

    /// The library chooses its kernel by the sizes, in each version anew.
    fn id(&self) -> KernelId {
        let LibraryLaunch {
            library,
            computation,
            ..
        } = &self.0;
        // The name has the version, in each of which the library may choose another kernel for the
        // same sizes.
        let (id, library) = (KernelId::new::<Self>(), Arc::clone(library));
        match computation {
            LibraryComputation::Product { calls, .. } => {
                // The calls of a product differ in where their matrices begin.
                let gemm = &calls[0].gemm;
                let sizes = [gemm.rows, gemm.columns, gemm.inner, gemm.batch];
                let storage = gemm.storage.map(|matrix| [matrix.leading, matrix.stride]);
                let steps = (gemm.transposed, gemm.epilogue);
                id.info((library, gemm.arithmetic, sizes, steps, storage))
            }
            LibraryComputation::Convolution(problem) => id.info((library, problem.clone())),
        }
    }

    fn address_type(&self) -> StorageType {
        AddressType::U32.unsigned_type()
    }
}

impl CubeTask<Unlowered> for LibraryTask {
    /// Nothing is compiled: the server asks for the computation.
    fn compile(
        &self,
        _compiler: &mut Unlowered,
        (): &(),
        _mode: ExecutionMode,
        _address_type: StorageType,
    ) -> Result<CompiledKernel<Unlowered>, CompilationError> {
        Ok(CompiledKernel {
            entrypoint_name: NAME.to_owned(),
            debug_name: None,
            source: String::new(),
            repr: Some(UnloweredKernel(Launched::Library(self.0.clone()))),
            cube_dim: cubecl::CubeDim::new_single(),
            debug_info: None,
        })
    }
}

/// The computation that a launch is, or `None` if it is one of a kernel.
pub(crate) fn launched(kernel: &dyn CubeTask<Unlowered>) -> Option<LibraryLaunch> {
    // The name is compared first, because `compile` of a kernel would build its whole definition.
    if kernel.name() != NAME {
        return None;
    }
    // The trait of cubecl has no other access to what a task contains.
    let compiled = kernel.compile(
        &mut Unlowered,
        &(),
        ExecutionMode::Checked,
        kernel.address_type(),
    );
    match compiled.ok()?.repr {
        Some(UnloweredKernel(Launched::Library(launch))) => Some(launch),
        _ => None,
    }
}

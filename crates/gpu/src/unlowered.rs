//! A kernel before it is lowered to the source of an interface.

use crate::library_launch::LibraryLaunch;
use cubecl::{
    CompilationError, Compiler, ExecutionMode,
    ir::{ElemType, StorageType},
};
use cubecl_runtime::kernel::KernelDefinition;
use std::fmt;

/// The compiler of [`GpuRuntime`](crate::GpuRuntime): it keeps the definition of a kernel, which
/// the device's own compiler lowers later.
#[derive(Debug, Clone, Default)]
pub struct Unlowered;

/// A kernel that is not lowered yet, or what is launched in the place of one. It has no text.
#[derive(Debug)]
pub struct UnloweredKernel(pub(crate) Launched);

/// The computation of a launch.
#[derive(Debug)]
pub(crate) enum Launched {
    /// A kernel of the interface.
    Kernel(Box<KernelDefinition>),
    /// Calls of the vendor's library.
    Library(LibraryLaunch),
}

impl fmt::Display for UnloweredKernel {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Compiler for Unlowered {
    type Representation = UnloweredKernel;
    type CompilationOptions = ();

    fn compile(
        &mut self,
        kernel: KernelDefinition,
        (): &(),
        _mode: ExecutionMode,
        _address_type: StorageType,
    ) -> Result<UnloweredKernel, CompilationError> {
        Ok(UnloweredKernel(Launched::Kernel(Box::new(kernel))))
    }

    fn elem_size(&self, elem: ElemType) -> usize {
        elem.size()
    }

    fn extension(&self) -> &'static str {
        ""
    }
}

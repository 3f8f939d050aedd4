//! From a kernel of [`GpuRuntime`](crate::GpuRuntime) to one of the device's own runtime.

use crate::unlowered::{Launched, Unlowered, UnloweredKernel};
use cubecl::{
    CompilationError, Compiler, CubeTask, ExecutionMode, Runtime,
    ir::{StorageType, TargetProperties},
};
use cubecl_runtime::{
    id::KernelId,
    kernel::{CompiledKernel, KernelMetadata},
};
use std::cell::Cell;
use std::marker::PhantomData;

/// A kernel as the runtime `R` launches it.
pub(crate) struct Lowered<R> {
    kernel: Box<dyn CubeTask<Unlowered>>,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> Lowered<R> {
    pub(crate) fn task(kernel: Box<dyn CubeTask<Unlowered>>) -> Box<dyn CubeTask<R::Compiler>> {
        Box::new(Self {
            kernel,
            runtime: PhantomData,
        })
    }
}

impl<R: Runtime> KernelMetadata for Lowered<R> {
    fn name(&self) -> &'static str {
        self.kernel.name()
    }

    fn id(&self) -> KernelId {
        self.kernel.id()
    }

    fn address_type(&self) -> StorageType {
        self.kernel.address_type()
    }
}

impl<R: Runtime> CubeTask<R::Compiler> for Lowered<R> {
    fn compile(
        &self,
        compiler: &mut R::Compiler,
        options: &<R::Compiler as Compiler>::CompilationOptions,
        mode: ExecutionMode,
        address_type: StorageType,
    ) -> Result<CompiledKernel<R::Compiler>, CompilationError> {
        // A kernel asks for the properties of its target while it is defined, without saying for
        // which device.
        TARGET.set(Some(R::target_properties));
        let unlowered = self
            .kernel
            .compile(&mut Unlowered, &(), mode, address_type)?;
        let Some(UnloweredKernel(Launched::Kernel(definition))) = unlowered.repr else {
            unreachable!("`Unlowered` returns the definition, and the server calls libraries")
        };
        // Mode and address type count here, where the source is made; `Unlowered` ignores them.
        let lowered = compiler.compile(*definition, options, mode, address_type)?;
        Ok(CompiledKernel {
            entrypoint_name: unlowered.entrypoint_name,
            debug_name: unlowered.debug_name,
            source: lowered.to_string(),
            repr: Some(lowered),
            cube_dim: unlowered.cube_dim,
            debug_info: None,
        })
    }
}

thread_local! {
    /// The target of the kernel that this thread defines.
    static TARGET: Cell<Option<fn() -> TargetProperties>> = const { Cell::new(None) };
}

/// Of the runtime for which this thread defines a kernel.
pub(crate) fn target_properties() -> TargetProperties {
    TARGET
        .get()
        .map_or_else(TargetProperties::default, |properties| properties())
}

//! A simulated device that runs the kernel of one test.

use hip_sim::{
    Configuration, Dim3, HipError, Launch, Module, Program, SimulatedArchitecture, Simulator,
    Statistics,
};
use std::ffi::{CString, c_void};
use tempfile::TempDir;

/// One device, and its folder of compiled kernels, which is deleted on drop.
pub(crate) struct TestDevice {
    pub(crate) simulator: Simulator,
    pub(crate) folder: TempDir,
}

/// The name of every kernel of these tests.
const KERNEL: &str = "kernel";
/// The includes before a kernel.
const HEAD: &str =
    "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include <hip/hip_bf16.h>\n";

impl TestDevice {
    pub(crate) fn new(architecture: SimulatedArchitecture) -> Self {
        Self::with(&[("HIP_SIM_DEVICES", architecture.as_str())])
    }

    pub(crate) fn faulty(faults: &str) -> Self {
        Self::with(&[("HIP_SIM_FAULTS", faults)])
    }

    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let cache = folder.path().to_str().unwrap().to_owned();
        let configuration = Configuration::read(|name| match name {
            "HIP_SIM_CACHE" => Some(cache.clone()),
            _ => variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned()),
        });
        Self {
            simulator: Simulator::new(configuration.unwrap()),
            folder,
        }
    }

    /// Compiles `text`: a kernel named `kernel`, with its declarations.
    pub(crate) fn compile(&self, text: &str) -> Result<Program, String> {
        let mut program = Program::new(&CString::new(format!("{HEAD}{text}")).unwrap());
        let compiled = program.compile(self.simulator.configuration(), &Statistics::default());
        compiled
            .map(|()| program)
            .map_err(|error| error.to_string())
    }

    /// Runs `text` with `grid` blocks of `block` threads on `buffers`, which it may change.
    pub(crate) fn run<T: Copy>(
        &self,
        text: &str,
        grid: Dim3,
        block: Dim3,
        buffers: &mut [Vec<T>],
    ) -> Result<(), HipError> {
        let program = self.compile(text).unwrap();
        // SAFETY: the code object was compiled by this crate.
        let module = unsafe { Module::load(program.code().as_ptr().cast()) }?;
        let function = self
            .simulator
            .function(0, &module, &CString::new(KERNEL).unwrap())?;
        let mut pointers = Vec::new();
        for buffer in &mut *buffers {
            let size = size_of_val(buffer.as_slice());
            let pointer = self.simulator.allocate(0, size)?;
            // SAFETY: the buffer is `size` bytes long.
            unsafe {
                self.simulator
                    .copy_to_device(0, pointer, buffer.as_ptr().cast(), size)
            }?;
            pointers.push(pointer);
        }
        let mut arguments: Vec<*mut c_void> = pointers
            .iter()
            .map(|pointer| std::ptr::from_ref(pointer).cast_mut().cast())
            .collect();
        let launch = Launch {
            grid,
            block,
            shared_memory: 65536,
            arguments: arguments.as_mut_ptr(),
        };
        // SAFETY: the tests pass one buffer for each argument, as long as their kernels use it.
        unsafe { self.simulator.launch(0, &function, &launch) }?;
        for (buffer, pointer) in buffers.iter_mut().zip(pointers) {
            let size = size_of_val(buffer.as_slice());
            // SAFETY: the buffer is `size` bytes long.
            unsafe {
                self.simulator
                    .copy_to_host(0, buffer.as_mut_ptr().cast(), pointer, size)
            }?;
            self.simulator.release(0, pointer)?;
        }
        Ok(())
    }

    /// Runs one block of `threads` threads on one buffer.
    pub(crate) fn block<T: Copy>(&self, text: &str, threads: u32, buffer: Vec<T>) -> Vec<T> {
        let mut buffers = [buffer];
        self.run(
            text,
            Dim3::new(1, 1, 1),
            Dim3::new(threads, 1, 1),
            &mut buffers,
        )
        .unwrap();
        let [buffer] = buffers;
        buffer
    }
}

//! Compilation of a kernel's HIP C++ source to a shared object for the host processor, which is
//! cached.
//!
//! Owns: the program object of hiprtc and the order of the steps. [`rewrite`] translates the
//! source, [`store`] runs the compiler and caches its output.

mod error;
mod order;
mod rewrite;
mod store;

pub use error::CompileError;

use crate::configuration::Configuration;
use crate::fault::Fault;
use crate::module::CodeObject;
use crate::statistics::Statistics;
use std::ffi::{CStr, CString};

/// The program of a handle that `hiprtcCreateProgram` returned.
#[derive(Debug)]
pub struct Program {
    source: String,
    log: CString,
    code: Vec<u8>,
}

impl Program {
    /// A program that has not been compiled.
    pub fn new(source: &CStr) -> Self {
        Self {
            source: source.to_string_lossy().into_owned(),
            log: CString::default(),
            code: Vec::new(),
        }
    }

    /// Compiles it. An error is also stored in [`Program::log`].
    ///
    /// # Errors
    ///
    /// There is no compiler, it rejects the source, or the cache cannot be written.
    pub fn compile(
        &mut self,
        configuration: &Configuration,
        statistics: &Statistics,
    ) -> Result<(), CompileError> {
        let compiled = compile(&self.source, configuration, statistics);
        match compiled {
            Ok(code) => {
                self.code = code;
                Ok(())
            }
            Err(error) => {
                // C would end the message at a zero.
                self.log = CString::new(error.to_string().replace('\0', "")).unwrap_or_default();
                Err(error)
            }
        }
    }

    /// The compiler's messages; empty after success.
    pub fn log(&self) -> &CStr {
        &self.log
    }

    /// The code object that a module loads; empty before compilation.
    pub fn code(&self) -> &[u8] {
        &self.code
    }
}

fn compile(
    source: &str,
    configuration: &Configuration,
    statistics: &Statistics,
) -> Result<Vec<u8>, CompileError> {
    let names = rewrite::kernel_names(source);
    let matches_name = |text: &String| names.iter().any(|name| name.contains(text.as_str()));
    if configuration
        .faults
        .any(|fault| matches!(fault, Fault::Compile(text) if matches_name(text)))
    {
        return Err(CompileError::Injected);
    }
    if let Some(limit) = configuration
        .max_source_bytes
        .filter(|limit| source.len() > *limit)
    {
        return Err(CompileError::TooLong {
            length: source.len(),
            limit,
        });
    }
    // Before the key: cubecl declares structures in an order that differs in every process.
    let source = order::sorted_structures(source);
    let host_source = rewrite::host_source(&source, &names);
    let key = store::KernelKey::new(&order::normalised(&host_source), configuration);
    if let Some(folder) = &configuration.dump {
        store::dump(folder, &key, &source)?;
    }
    let object = store::object(&key, &host_source, configuration, statistics)?;
    Ok(CodeObject {
        fibers: rewrite::needs_fibers(&source),
        object,
    }
    .encode())
}

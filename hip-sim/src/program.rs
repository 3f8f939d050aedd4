//! Compiling a kernel's text: HIP C++ in, a shared object for the host processor out, kept for the next time.
//!
//! Owns: the program object of hiprtc and the order of the steps. The text is changed in [`rewrite`], the compiler is run
//! and its work kept in [`store`].

mod order;
mod rewrite;
mod store;

use crate::fault::Fault;
use crate::{Configuration, Statistics};
use std::ffi::{CStr, CString};
use std::path::PathBuf;

pub(crate) use store::fingerprint;

/// What `hiprtcCreateProgram` makes.
#[derive(Debug)]
pub struct Program {
    source: String,
    log: CString,
    code: Vec<u8>,
}

/// Why a kernel does not compile.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no compiler.
    #[error("cannot start the C++ compiler `{compiler}` ({source}); install g++ or clang++, or set HIP_SIM_CXX")]
    NoCompiler {
        /// The program that was tried.
        compiler: String,
        /// Why it does not start.
        source: std::io::Error,
    },
    /// The compiler refuses the text.
    #[error("{0}")]
    Refused(String),
    /// The cache cannot be written.
    #[error("cannot write `{}`: {source}; set HIP_SIM_CACHE to a folder that can be written", path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A text that is longer than was asked for.
    #[error("hip-sim: a text of {length} bytes, and HIP_SIM_LONGEST is {longest}")]
    TooLong {
        /// The text's bytes.
        length: usize,
        /// The bytes that are allowed.
        longest: usize,
    },
    /// A fault that was asked for.
    #[error("hip-sim: compilation fails on demand")]
    Demanded,
}

impl Program {
    /// A program that has not been compiled.
    pub fn new(source: &CStr) -> Self {
        Self { source: source.to_string_lossy().into_owned(), log: CString::default(), code: Vec::new() }
    }

    /// Compiles it; [`Program::log`] tells what went wrong, too.
    ///
    /// # Errors
    ///
    /// There is no compiler, it refuses the text, or the result cannot be kept.
    pub fn compile(&mut self, configuration: &Configuration, statistics: &Statistics) -> Result<(), CompileError> {
        let compiled = compile(&self.source, configuration, statistics);
        match compiled {
            Ok(code) => {
                self.code = code;
                Ok(())
            }
            Err(error) => {
                self.log = CString::new(error.to_string().replace('\0', "")).unwrap_or_default();
                Err(error)
            }
        }
    }

    /// What the compiler said; empty after success.
    pub fn log(&self) -> &CStr {
        &self.log
    }

    /// The code object, for a module to load; empty before it is compiled.
    pub fn code(&self) -> &[u8] {
        &self.code
    }
}

fn compile(source: &str, configuration: &Configuration, statistics: &Statistics) -> Result<Vec<u8>, CompileError> {
    let names = rewrite::kernel_names(source);
    let hits = |text: &String| names.iter().any(|name| name.contains(text.as_str()));
    if configuration.faults.any(|fault| matches!(fault, Fault::Compile(text) if hits(text))) {
        return Err(CompileError::Demanded);
    }
    if let Some(longest) = configuration.longest.filter(|longest| source.len() > *longest) {
        return Err(CompileError::TooLong { length: source.len(), longest });
    }
    let source = order::sorted_structures(source);
    let text = rewrite::host_text(&source, &names);
    let key = store::Key::new(&order::comparable(&text), configuration);
    if let Some(folder) = &configuration.dump {
        store::dump(folder, &key, &source)?;
    }
    let object = store::object(&key, &text, configuration, statistics)?;
    Ok(crate::module::CodeObject { fibers: rewrite::needs_fibers(&source), object }.encode())
}

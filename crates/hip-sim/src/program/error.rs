//! Errors of the compilation of a kernel.

use std::path::PathBuf;

/// Why a kernel does not compile.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler does not start.
    #[error(
        "cannot start the C++ compiler `{compiler}` ({source}); install g++ or clang++, or set HIP_SIM_CXX"
    )]
    NoCompiler {
        /// The program that was tried.
        compiler: String,
        /// Why it does not start.
        source: std::io::Error,
    },
    /// The compiler rejects the source; its messages.
    #[error("{0}")]
    Rejected(String),
    /// The cache cannot be written.
    #[error("cannot write `{}`: {source}; set HIP_SIM_CACHE to a writable folder", path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The source exceeds the maximum size.
    #[error("hip-sim: the source has {length} bytes, and HIP_SIM_LONGEST is {limit}")]
    TooLong {
        /// The size of the source in bytes.
        length: usize,
        /// The maximum size in bytes.
        limit: usize,
    },
    /// The fault [`Fault::Compile`](crate::fault::Fault::Compile).
    #[error("hip-sim: injected compilation fault")]
    Injected,
}

//! burn's GPU backend for testgen: CUDA or ROCm chosen at run time, kernels chosen by rule,
//! launches recorded.
//!
//! burn has such a backend, Dispatch. It is not used because it chooses kernels by timing them, so
//! that two machines, or two runs, test different kernels; because it hides which kernel computes a
//! product; and because it compiles every kernel once for CUDA and once for ROCm.

#[cfg(not(any(feature = "cuda", feature = "rocm")))]
compile_error!("testgen-gpu needs the feature `cuda`, `rocm` or both");

mod backend;
mod blocking;
mod cache;
mod compile_only;
mod copy_stream;
mod device;
mod driver_memory;
mod fused;
mod launches;
mod library_call;
mod library_convolution;
mod library_launch;
mod library_product;
mod library_queue;
mod library_task;
mod lowering;
mod memory;
mod no_storage;
mod out_of_memory;
mod parts;
mod peak;
mod peer;
mod product;
mod products;
mod put;
mod runtime;
mod server;
mod tf32;
mod unlowered;

pub use backend::Gpu;
pub use blocking::{BlockingLaunches, Kernel, blocking_launches};
pub use cache::store_kernels_in;
pub use compile_only::{Share, compile_only, executing};
pub use device::{GpuDevice, GpuInterface, ProductSource};
pub use fused::{
    ElementFunction, LayerNormWeights, SOURCE_HASH, activate, layer_norm, masked_softmax,
    merge_heads, rms_norm, rotate, row_major_product,
};
pub use launches::take_fingerprint;
pub use library_convolution::convolution_of_sequences;
pub use library_launch::OpenedLibraries;
pub use library_product::affine_by_library;
pub use memory::{MemoryUsage, memory_cleanup, memory_recover, memory_usage};
pub use out_of_memory::{OUT_OF_MEMORY, memory_limit, tries_allocation};
pub use peak::reset_memory_peak;
pub use product::{ProductKernel, ROW_MAJOR, kernel_by_rule, product_by};
pub use products::{Factor, Product, dtype, record_products};
pub use put::{put, put_beside, transposed};
pub use runtime::{GpuRuntime, GpuTensor};
pub use server::GpuServer;
pub use tf32::{has_tf32, with_tf32};
pub use unlowered::{Unlowered, UnloweredKernel};

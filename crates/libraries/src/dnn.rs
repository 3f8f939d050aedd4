//! cuDNN and MIOpen: a convolution is described by descriptors of tensors and of windows, and
//! computed by one of the algorithms that the library lists for it.

mod cudnn;
mod cudnn_descriptor;
mod cudnn_functions;
mod cudnn_numbers;
mod descriptor;
mod lengths;
mod miopen;
mod miopen_descriptor;
mod miopen_functions;
mod miopen_numbers;

pub(crate) use cudnn::Cudnn;
pub(crate) use cudnn_functions::CudnnFunctions;
pub use cudnn_functions::CudnnPerformance;
pub use cudnn_numbers::CudnnNumbers;
pub(crate) use miopen::Miopen;
pub(crate) use miopen_functions::MiopenFunctions;
pub use miopen_functions::MiopenSolution;
pub use miopen_numbers::MiopenNumbers;

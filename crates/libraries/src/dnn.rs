//! cuDNN and MIOpen: a convolution is described by descriptors of tensors and of windows, and
//! computed by one of the algorithms that the library lists for it. Softmax, activations, pools,
//! reductions and norms have the algorithms that the headers name.

mod batch_norm;
mod cudnn;
mod cudnn_descriptor;
mod cudnn_functions;
mod cudnn_numbers;
mod cudnn_primitive;
mod descriptor;
mod lengths;
mod miopen;
mod miopen_descriptor;
mod miopen_functions;
mod miopen_norm;
mod miopen_numbers;
mod miopen_primitive;
mod norm;
mod primitive;
mod primitive_dialect;
mod primitive_functions;
mod primitive_numbers;

pub(crate) use cudnn::Cudnn;
pub use cudnn_functions::CudnnPerformance;
pub(crate) use cudnn_functions::{CudnnFunctions, CudnnPrimitiveFunctions, CudnnSwishFunctions};
pub use cudnn_numbers::CudnnNumbers;
pub(crate) use miopen::Miopen;
pub use miopen_functions::MiopenSolution;
pub(crate) use miopen_functions::{MiopenFunctions, MiopenNormFunctions, MiopenPrimitiveFunctions};
pub use miopen_numbers::MiopenNumbers;
pub(crate) use primitive_functions::PrimitiveFunctions;
pub use primitive_numbers::{NamedNumber, PrimitiveNumbers};

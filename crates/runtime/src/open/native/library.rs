//! The libraries of a GPU's vendor in the place of the kernels of matrix products and convolutions.

use super::{
    super::error::OpenError,
    backend::{self, Products},
};
use crate::engine::AttachError;
use testgen_device::Device;
use testgen_nn::forward::Unsupported;

/// The names and the versions of the libraries that compute on `device`.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(super) fn find(device: &Device) -> Result<String, OpenError> {
    use testgen_libraries::OpenLibraryError;
    use testgen_nn::device::BackendDevice;
    let BackendDevice::Gpu(gpu) = backend::of_device(device, Products::Library)? else {
        return Err(unsupported(
            device,
            "no vendor's library computes on the CPU",
        ));
    };
    match gpu.open_libraries() {
        Ok(libraries) => Ok(match libraries.convolutions {
            Some(convolutions) => format!("{}, {convolutions}", libraries.products),
            None => libraries.products.to_string(),
        }),
        // Not a failure: on a machine without the library this column has nothing to check.
        Err(error @ OpenLibraryError::NotFound(_)) => Err(unsupported(device, &error.to_string())),
        Err(error) => {
            let failed = AttachError::Failed(error.to_string());
            Err(OpenError::of_engine(device, failed))
        }
    }
}

#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(super) fn find(device: &Device) -> Result<String, OpenError> {
    backend::of_device(device, Products::Library)?;
    Err(unsupported(
        device,
        "no vendor's library computes on the CPU",
    ))
}

/// A reason to ignore the checks of the column.
fn unsupported(device: &Device, why: &str) -> OpenError {
    OpenError::of_engine(
        device,
        AttachError::Unsupported(Unsupported(why.to_owned())),
    )
}

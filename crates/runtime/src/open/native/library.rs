//! The libraries of a GPU's vendor in the place of the kernels of matrix products and convolutions.

use super::{
    super::error::OpenError,
    backend::{self, Products},
};
use crate::engine::AttachError;
use testgen_device::Device;
use testgen_nn::forward::Unsupported;
#[cfg(any(feature = "cuda", feature = "rocm"))]
use testgen_types::{TUNE_VARIABLE, TUNED_VARIABLE};

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
    let tuning = tuning(device)
        .map_err(|problem| OpenError::of_engine(device, AttachError::Failed(problem)))?;
    match gpu.open_libraries(tuning) {
        Ok(libraries) => Ok(libraries.versions.to_string()),
        // Not a failure: on a machine without the library this column has nothing to check.
        Err(error @ OpenLibraryError::NotFound(_)) => Err(unsupported(device, &error.to_string())),
        Err(error) => {
            let failed = AttachError::Failed(error.to_string());
            Err(OpenError::of_engine(device, failed))
        }
    }
}

/// The file that products and convolutions are tuned by, as `testgen run --tune` and `--tuned` name
/// it.
#[cfg(any(feature = "cuda", feature = "rocm"))]
fn tuning(device: &Device) -> Result<Option<testgen_libraries::Tuning>, String> {
    use std::sync::{Arc, OnceLock};
    use testgen_libraries::{Tuning, TuningFile, TuningMode};
    // Read once, so that every model of the process has the same choices.
    static FILE: OnceLock<Result<Option<Arc<TuningFile>>, String>> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let named = [
            (TUNE_VARIABLE, TuningMode::Measure),
            (TUNED_VARIABLE, TuningMode::Read),
        ];
        let mut files = named.into_iter().filter_map(|(variable, mode)| {
            // An empty variable counts as absent, so that a job can clear it.
            let path = std::env::var_os(variable).filter(|path| !path.is_empty())?;
            Some((path, mode))
        });
        let opened = files
            .next()
            .map(|(path, mode)| TuningFile::load(path.as_ref(), mode).map(Arc::new));
        opened.transpose().map_err(|error| error.to_string())
    });
    Ok(file.clone()?.map(|file| Tuning {
        file,
        device: device.name.clone(),
    }))
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

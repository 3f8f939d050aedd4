//! The tensors of a checkpoint as a model reads them: by the paths of its modules, with an account
//! of every read.
//!
//! On the host processor a tensor that already has the requested type stays in the mapped file.
//! Elsewhere it is copied in that type, and linear weights are transposed from Hugging Face's
//! [out, in] to [in, out], which is faster in matrix products.

mod accessed;
mod convert;
#[cfg(test)]
mod fuzz;
mod mapped;

use super::{
    Residency,
    error::WeightsError,
    file::{FileTensor, Files},
};
use crate::backend::{Ops, put, transposed};
use accessed::Accessed;
use burn_tensor::{Bytes, DType, Shape, Tensor, TensorData};
use convert::{Conversion, Convert, StoredBytes, StoredRows, conversion_from};
use std::{
    collections::BTreeSet,
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};
use testgen_types::DeviceKind;

/// The tensors of a checkpoint below a path of module names.
pub struct Weights<B: Ops> {
    files: Arc<Files>,
    // One account for all views of a checkpoint: any module may read any tensor.
    accessed: Arc<Mutex<Accessed>>,
    path: String,
    device: B::Device,
    dtype: DType,
    residency: Residency,
}

impl<B: Ops> Weights<B> {
    /// The whole checkpoint in `directory`; tensors are put on `device` as `dtype`.
    pub fn open(directory: &Path, device: &B::Device, dtype: DType) -> Result<Self, WeightsError> {
        let files = Arc::new(Files::open(directory)?);
        Ok(Self {
            files,
            accessed: Arc::default(),
            path: String::new(),
            device: device.clone(),
            dtype,
            residency: Residency::Resident,
        })
    }

    /// The same checkpoint, for a model whose layers are where `residency` says.
    #[must_use]
    pub fn with_residency(self, residency: Residency) -> Self {
        Self { residency, ..self }
    }

    pub(crate) fn residency(&self) -> Residency {
        self.residency
    }

    /// Records that the model has layers that can be streamed.
    pub(crate) fn mark_stack(&self) {
        self.accessed().has_stack = true;
    }

    /// Whether the model has layers that can be streamed.
    pub fn has_stack(&self) -> bool {
        self.accessed().has_stack
    }

    /// Whether the files are those that were opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), WeightsError> {
        self.files.check_unchanged()
    }

    /// The module `name` below this one, as `w.module("encoder").module(0)`.
    pub fn module(&self, name: impl fmt::Display) -> Self {
        Self {
            files: Arc::clone(&self.files),
            accessed: Arc::clone(&self.accessed),
            path: self.name(&name.to_string()),
            device: self.device.clone(),
            dtype: self.dtype,
            residency: self.residency,
        }
    }

    /// The module `prefix` if the checkpoint has tensors below it, else this one: classes with a
    /// head save their base model under its name, base models save their tensors without it.
    pub fn strip_prefix(&self, prefix: &str) -> Self {
        // The module with an empty name is this one.
        self.module(if self.has_module(prefix) { prefix } else { "" })
    }

    /// The first of `names` below which the checkpoint has tensors, for modules that were renamed
    /// over the years.
    pub fn module_named(&self, names: &[&str]) -> Self {
        // The first where there is none, so that the error about a missing tensor has the name of
        // today.
        let found = names.iter().find(|name| self.has_module(name));
        self.module(found.unwrap_or(&names[0]))
    }

    /// Whether the checkpoint has tensors below the module `name`.
    fn has_module(&self, name: &str) -> bool {
        let below = format!("{}.", self.name(name));
        self.files.names().any(|tensor| tensor.starts_with(&below))
    }

    /// The directory of the checkpoint.
    pub fn directory(&self) -> &Path {
        self.files.directory()
    }

    /// The tensors of another file of the checkpoint, put on the same device as `dtype`.
    pub fn beside(&self, file: &str, dtype: DType) -> Result<Self, WeightsError> {
        let files = Arc::new(Files::open_one(self.directory(), file)?);
        Ok(Self {
            files,
            accessed: Arc::default(),
            path: String::new(),
            device: self.device.clone(),
            dtype,
            residency: self.residency,
        })
    }

    /// The same tensors, put on the device as `dtype`, for modules that keep a type of their
    /// choice.
    pub fn in_type(&self, dtype: DType) -> Self {
        Self {
            dtype,
            ..self.module("")
        }
    }

    /// The same tensors, put on another device.
    pub(crate) fn on(&self, device: B::Device) -> Self {
        Self {
            device,
            ..self.module("")
        }
    }

    /// The type that tensors are put on the device as.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device that tensors are put on.
    pub fn device(&self) -> &B::Device {
        &self.device
    }

    /// Whether the checkpoint has this tensor.
    pub fn has(&self, name: &str) -> bool {
        self.files.find(&self.name(name)).is_some()
    }

    /// The tensor `name` of exactly this shape.
    pub fn tensor<const D: usize>(
        &self,
        name: &str,
        shape: [usize; D],
    ) -> Result<Tensor<B, D>, WeightsError> {
        self.put(name, shape, Conversion::AsIs)
    }

    /// The matrix `name`, [out, in] in the file, as [in, out].
    pub fn transposed(
        &self,
        name: &str,
        [out, inner]: [usize; 2],
    ) -> Result<Tensor<B, 2>, WeightsError> {
        self.put(name, [out, inner], Conversion::Transposed)
    }

    /// Host values of the tensor `name`, in f32.
    pub fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let stored = self.stored(name, shape)?;
        let mut bytes = vec![0; shape.iter().product::<usize>() * DType::F32.size()];
        let rows = StoredRows {
            stored: &stored,
            shape,
            conversion: Conversion::AsIs,
            first: 0,
        };
        conversion_of(&stored)?(&rows, DType::F32, &mut bytes)?;
        let data = TensorData::from_bytes_vec(bytes, Shape::from(shape.to_vec()), DType::F32);
        Ok(data.into_vec().expect("the conversion was to f32"))
    }

    /// Counts `name` as read although its values are another tensor's (tied weights).
    /// [`Weights::check_tied`] compares them.
    pub fn mark_tied(&self, name: &str) {
        self.accessed().tied.insert(self.name(name));
    }

    /// Counts `name` as read although the class that is computed does not use it.
    pub fn mark_unused(&self, name: &str) {
        self.accessed().unused.insert(self.name(name));
    }

    /// Whether every tensor that was marked as tied and is in the file equals one that was read.
    pub fn check_tied(&self) -> Result<(), WeightsError> {
        self.accessed().check_tied(&self.files)
    }

    /// The names that were read, or need not be, sorted.
    pub fn read_names(&self) -> Vec<String> {
        self.accessed().names()
    }

    /// The names in the files that were not read, sorted.
    pub fn unread_names(&self) -> Vec<String> {
        let read: BTreeSet<String> = self.read_names().into_iter().collect();
        self.files
            .names()
            .filter(|name| !read.contains(*name))
            .map(str::to_owned)
            .collect()
    }

    fn accessed(&self) -> MutexGuard<'_, Accessed> {
        self.accessed
            .lock()
            .expect("no reader panics while it holds the lock")
    }

    fn put<const D: usize>(
        &self,
        name: &str,
        shape: [usize; D],
        conversion: Conversion,
    ) -> Result<Tensor<B, D>, WeightsError> {
        let stored = self.stored(name, &shape)?;
        let Some(bytes) = self.shared(&stored, conversion) else {
            return self.copied(&stored, shape, conversion);
        };
        let data = TensorData::from_bytes(bytes, Shape::from(shape), self.dtype);
        let tensor = Tensor::from_data(data, (&self.device, self.dtype));
        Ok(match conversion {
            Conversion::AsIs => tensor,
            Conversion::Transposed => tensor.transpose(),
        })
    }

    /// A copy on the device. A large matrix that is to be turned is turned there.
    fn copied<const D: usize>(
        &self,
        stored: &FileTensor<'_>,
        shape: [usize; D],
        conversion: Conversion,
    ) -> Result<Tensor<B, D>, WeightsError> {
        let convert = conversion_of(stored)?;
        let is_turned = conversion == Conversion::Transposed;
        let is_turned_there = is_turned && B::transposes(shape.iter().product());
        let (conversion, mut placed) = (
            if is_turned_there {
                Conversion::AsIs
            } else {
                conversion
            },
            shape,
        );
        if conversion == Conversion::Transposed {
            placed.reverse();
        }
        let tensor = put(placed, self.dtype, &self.device, |first, out| {
            let rows = StoredRows {
                stored,
                shape: &shape,
                conversion,
                first,
            };
            convert(&rows, self.dtype, out)
        })?;
        Ok(if is_turned_there {
            transposed(tensor)
        } else {
            tensor
        })
    }

    /// The bytes of the file itself, where tensors live in the host's memory.
    fn shared(&self, stored: &FileTensor<'_>, conversion: Conversion) -> Option<Bytes> {
        let on_host = B::kind(&self.device) == DeviceKind::Cpu;
        // A matrix that is to be turned is a view then, which only the kernels for f32 read as
        // fast.
        let as_view = conversion == Conversion::AsIs || self.dtype == DType::F32;
        (on_host && as_view)
            .then(|| mapped::share(stored, self.dtype))
            .flatten()
    }

    /// The tensor `name` as a file has it, counted as read.
    fn stored(&self, name: &str, shape: &[usize]) -> Result<FileTensor<'_>, WeightsError> {
        let name = self.name(name);
        let stored = self
            .files
            .find(&name)
            .ok_or_else(|| WeightsError::Missing {
                name: name.clone(),
                expected: shape.to_vec(),
            })?;
        if stored.shape != shape {
            return Err(WeightsError::WrongShape {
                name,
                found: stored.shape.to_vec(),
                expected: shape.to_vec(),
            });
        }
        // By its name in the file, which may be an older one: unread tensors are found by these.
        self.accessed().read.insert(stored.name.clone());
        Ok(stored)
    }

    fn name(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => format!("{path}.{name}"),
        }
    }
}

/// The conversion of the type that a file has.
fn conversion_of(stored: &FileTensor<'_>) -> Result<Convert, WeightsError> {
    conversion_from(stored.dtype).ok_or_else(|| WeightsError::WrongType {
        name: stored.name.clone(),
        found: format!("{:?}", stored.dtype),
    })
}

impl StoredBytes for FileTensor<'_> {
    fn read_at(&self, start: usize, out: &mut [u8]) -> Result<(), WeightsError> {
        FileTensor::read_at(self, start, out)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

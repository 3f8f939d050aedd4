//! The interface of a library that multiplies matrices, the same for both vendors.

use crate::{gpu::DeviceAddress, library::LibraryName, product::GemmCall};

/// A library that multiplies matrices on one device.
pub trait Blas {
    /// The library.
    fn name(&self) -> LibraryName;

    /// Its version, as it reports it.
    fn version(&self) -> &str;

    /// Whether C and D are one matrix: the address of C is then not used, and D must contain C.
    fn in_place(&self) -> bool;

    /// The algorithms that the library offers for `product`, the one that it prefers first. Empty
    /// when it does not support the product.
    ///
    /// # Errors
    ///
    /// When the library fails.
    fn algorithms(&self, product: &GemmCall) -> Result<Vec<Algorithm>, BlasError>;

    /// Starts the product on the device's default stream.
    ///
    /// # Errors
    ///
    /// When the library returns an error.
    fn run(
        &self,
        product: &GemmCall,
        algorithm: &Algorithm,
        buffers: Buffers,
    ) -> Result<(), BlasError>;
}

/// The type in which a library adds the parts of a sum that several groups of threads computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartialSums {
    /// f32: what PyTorch requires where `allow_fp16_reduced_precision_reduction` and the one for
    /// bf16 are off.
    #[default]
    Single,
    /// The type of the result, if the library prefers it: the default of cuBLAS and cuBLASLt.
    /// AMD's libraries have no such choice.
    AsResult,
}

/// The addresses of the matrices of a product, each with the bytes that
/// [`crate::MatrixStorage::bytes`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// The first factor.
    pub a: DeviceAddress,
    /// The second factor.
    pub b: DeviceAddress,
    /// The matrix that is added.
    pub c: DeviceAddress,
    /// The result.
    pub d: DeviceAddress,
}

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Algorithm {
    /// The number by which the library's documentation names it: a solution index, an algorithm's
    /// id, or `default`.
    pub id: String,
    /// Its configuration (tile, split of the inner dimension, stages); empty if the library does
    /// not report it.
    pub configuration: String,
    /// The library's own structure, or the solution index.
    pub(crate) handle: AlgorithmHandle,
}

/// The representation of an algorithm that its library reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AlgorithmHandle {
    /// The library chooses.
    Default,
    /// The solution index of rocBLAS.
    Index(i32),
    /// The opaque structure of cuBLASLt or hipBLASLt with the bytes of workspace that it needs.
    Opaque { words: Vec<u64>, workspace: usize },
}

impl Algorithm {
    /// The algorithm that the library chooses itself.
    pub(crate) fn chosen_by_library() -> Self {
        Self {
            id: "default".to_owned(),
            configuration: String::new(),
            handle: AlgorithmHandle::Default,
        }
    }
}

/// An error of a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlasError {
    /// A status other than success.
    #[error("{function} returned {code}, {name}")]
    Status {
        /// The function.
        function: String,
        /// The number.
        code: i32,
        /// The name in the library's header.
        name: &'static str,
    },
    /// The library does not have this combination of types or sizes.
    #[error("not supported: {reason}")]
    Unsupported {
        /// The library's answer.
        reason: String,
    },
    /// A function that the library must have is missing.
    #[error("`{library}` lacks `{symbol}`; install a newer version")]
    Symbol {
        /// The file.
        library: String,
        /// The function.
        symbol: String,
    },
    /// A product changed memory outside of its result.
    #[error("the product has changed other memory: {place}")]
    Overwritten {
        /// The place.
        place: String,
    },
    /// Memory of the device.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
}

/// The numbers of a library's statuses with their names.
pub(crate) type StatusNames = &'static [(i32, &'static str)];

/// `Ok` for 0; an error with the name of the status otherwise.
pub(crate) fn check(
    function: &str,
    code: i32,
    names: StatusNames,
    unsupported: &[i32],
) -> Result<(), BlasError> {
    let name = names
        .iter()
        .find(|(number, _)| *number == code)
        .map_or("unknown status", |(_, name)| *name);
    match code {
        0 => Ok(()),
        code if unsupported.contains(&code) => Err(BlasError::Unsupported {
            reason: format!("{function} returned {code}, {name}"),
        }),
        code => Err(BlasError::Status {
            function: function.to_owned(),
            code,
            name,
        }),
    }
}

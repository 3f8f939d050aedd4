//! The interface of a library that multiplies matrices, the same for both vendors.

use crate::{
    gpu::DeviceAddress, library::LibraryName, library_error::LibraryError, product::GemmCall,
};

/// A library that multiplies matrices on one device.
pub trait Blas {
    /// The library.
    fn name(&self) -> LibraryName;

    /// Its version, as it reports it.
    fn version(&self) -> &str;

    /// Whether C and D are one matrix for an algorithm: the address of C is then not used, and D
    /// must contain C.
    fn in_place(&self, algorithm: &Algorithm) -> bool;

    /// The algorithms that the library offers for `product`, the one that it prefers first. Empty
    /// when it does not support the product.
    ///
    /// # Errors
    ///
    /// When the library fails.
    fn algorithms(&self, product: &GemmCall) -> Result<Vec<Algorithm>, LibraryError>;

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
    ) -> Result<(), LibraryError>;
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

/// The alignment in bytes that the heuristic of cuBLASLt assumes of matrices by default.
const ALIGNMENT: u64 = 256;

/// The addresses of the matrices of a product, each with the bytes that
/// [`crate::MatrixStorage::bytes`] returns, and of what else it reads.
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
    /// The bias: a number of the type of D for each of its rows.
    pub bias: DeviceAddress,
    /// The scales of A and of B, each an f32.
    pub scales: [DeviceAddress; 2],
}

impl Buffers {
    /// A product without bias and scales.
    pub const fn new([a, b, c, d]: [DeviceAddress; 4]) -> Self {
        let none = DeviceAddress(0);
        Self {
            a,
            b,
            c,
            d,
            bias: none,
            scales: [none; 2],
        }
    }

    /// Whether the matrices and the bias begin where algorithms of cuBLASLt and hipBLASLt may read
    /// them.
    pub(crate) fn are_aligned(&self) -> bool {
        let all = [self.a, self.b, self.c, self.d, self.bias];
        // The heuristic is asked for algorithms of matrices at multiples of this.
        all.iter()
            .all(|address| address.0.is_multiple_of(ALIGNMENT))
    }

    /// Addresses for questions about a product, in which a library looks at their alignment only.
    pub(crate) const fn unread() -> Self {
        let aligned = DeviceAddress(ALIGNMENT);
        Self {
            bias: aligned,
            scales: [aligned; 2],
            ..Self::new([aligned; 4])
        }
    }
}

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Algorithm {
    /// The number by which the library's documentation names it: a solution index, an algorithm's
    /// id, `default`, or `gemv` for the function of a matrix and a vector.
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
    /// The function of cuBLAS or rocBLAS for a matrix and a vector.
    Gemv,
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
    /// The function for the product of a matrix and a vector.
    pub(crate) fn gemv() -> Self {
        Self {
            id: "gemv".to_owned(),
            configuration: String::new(),
            handle: AlgorithmHandle::Gemv,
        }
    }
}

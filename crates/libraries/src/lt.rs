//! cuBLASLt and hipBLASLt: nearly the same functions, with other numbers. A product is described by
//! attributes, a heuristic returns algorithms for it.

mod descriptor;
mod dialect;
mod functions;

pub(crate) use dialect::{CUBLAS_STATUSES, cuda_version, data_type};
pub use dialect::{CUBLASLT, Dialect, HIPBLASLT};

use crate::{
    blas::{Algorithm, AlgorithmHandle, Blas, Buffers, PartialSums},
    gpu::{DeviceAddress, LibraryGpu},
    library::LibraryName,
    library_error::{LibraryError, check},
    product::{ComputeType, GemmCall},
};
use descriptor::{Descriptors, Preference};
use functions::ConfigurationOf;
pub(crate) use functions::LtFunctions;
use std::{ffi::c_void, ptr::null_mut, rc::Rc};
use testgen_device::SharedLibrary;

/// Bytes of workspace that algorithms may use: what NVIDIA recommends for Hopper; hipBLASLt's own
/// default is the same.
const WORKSPACE: usize = 32 << 20;
/// The most algorithms that the heuristic is asked for.
const MOST_ALGORITHMS: usize = 256;

/// A library with the interface of cuBLASLt.
pub(crate) struct Lt {
    gpu: Rc<dyn LibraryGpu>,
    dialect: &'static Dialect,
    functions: LtFunctions,
    configuration: Option<ConfigurationOf>,
    handle: *mut c_void,
    version: String,
    workspace: DeviceAddress,
    sums: PartialSums,
}

impl Lt {
    pub(crate) fn open(
        library: &SharedLibrary,
        dialect: &'static Dialect,
        gpu: Rc<dyn LibraryGpu>,
        sums: PartialSums,
    ) -> Result<Self, LibraryError> {
        let functions = LtFunctions::load(library, dialect.prefix)
            .map_err(|symbol| LibraryError::missing(library, symbol))?;
        gpu.make_current()?;
        let mut handle = null_mut();
        // SAFETY: `handle` is writable for the whole call.
        dialect.check("Create", unsafe { (functions.create)(&mut handle) })?;
        let version = dialect.version(library, handle);
        // SAFETY: the type is the C signature of `cublasLtMatmulAlgoConfigGetAttribute`; hipBLASLt
        // does not have it.
        let configuration =
            unsafe { library.function(&format!("{}MatmulAlgoConfigGetAttribute", dialect.prefix)) };
        let workspace = gpu.allocate(WORKSPACE)?;
        Ok(Self {
            gpu,
            dialect,
            functions,
            configuration,
            handle,
            version,
            workspace,
            sums,
        })
    }

    /// The results of the heuristic, as words of `dialect.result_words` each.
    fn heuristic(&self, descriptors: &Descriptors<'_>) -> Result<Vec<Vec<u64>>, LibraryError> {
        let words = self.dialect.result_words;
        let mut results = vec![0_u64; MOST_ALGORITHMS * words];
        let mut count = 0;
        let [a, b, c, d] = descriptors.layouts();
        // SAFETY: the descriptors exist; `results` has room for as many structures as are
        // requested, with the size that the dialect states, and `tests/declarations` compares
        // that size with the published one.
        let code = unsafe {
            (self.functions.heuristic)(
                self.handle,
                descriptors.operation(),
                a,
                b,
                c,
                d,
                descriptors.preference(),
                MOST_ALGORITHMS as i32,
                results.as_mut_ptr().cast(),
                &mut count,
            )
        };
        self.dialect.check("MatmulAlgoGetHeuristic", code)?;
        let count = usize::try_from(count).unwrap_or(0).min(MOST_ALGORITHMS);
        Ok(results
            .chunks(words)
            .take(count)
            .map(<[u64]>::to_vec)
            .collect())
    }

    fn describe(
        &self,
        product: &GemmCall,
        buffers: Buffers,
    ) -> Result<Descriptors<'_>, LibraryError> {
        let preference = Preference {
            workspace: WORKSPACE as u64,
            sums: self.sums,
        };
        Descriptors::new(&self.functions, self.dialect, product, buffers, preference)
    }

    fn algorithm(&self, result: &[u64]) -> Option<Algorithm> {
        let words = self.dialect.algorithm_words;
        let (algorithm, rest) = result.split_at(words);
        // The state is the lower half of the word after the bytes of workspace.
        let (workspace, state) = (usize::try_from(rest[0]).ok()?, rest[1] as u32);
        let usable = state == 0 && workspace <= WORKSPACE;
        let (id, configuration) = describe(self.configuration, algorithm);
        let handle = AlgorithmHandle::Opaque {
            words: algorithm.to_vec(),
            workspace,
        };
        usable.then_some(Algorithm {
            id,
            configuration,
            handle,
        })
    }
}

impl Blas for Lt {
    fn name(&self) -> LibraryName {
        self.dialect.library
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn in_place(&self, _algorithm: &Algorithm) -> bool {
        false
    }

    fn algorithms(&self, product: &GemmCall) -> Result<Vec<Algorithm>, LibraryError> {
        self.gpu.make_current()?;
        let found = self
            .describe(product, Buffers::unread())
            .and_then(|descriptors| self.heuristic(&descriptors));
        Ok(LibraryError::none_if_unsupported(found)?
            .iter()
            .filter_map(|result| self.algorithm(result))
            .collect())
    }

    fn run(
        &self,
        product: &GemmCall,
        algorithm: &Algorithm,
        buffers: Buffers,
    ) -> Result<(), LibraryError> {
        self.gpu.make_current()?;
        // Not the descriptors of the heuristic: the address of the bias is a part of them.
        let descriptors = self.describe(product, buffers)?;
        let (words, workspace) = match &algorithm.handle {
            AlgorithmHandle::Opaque { words, workspace } => (words.as_ptr(), *workspace),
            // Without an algorithm, the library chooses one.
            AlgorithmHandle::Default | AlgorithmHandle::Gemv | AlgorithmHandle::Index(_) => {
                (std::ptr::null(), WORKSPACE)
            }
        };
        let [alpha, beta] = [product.alpha, product.beta]
            .map(|scalar| scalar_bits(product.arithmetic.compute, scalar));
        let [a, b, c, d] = descriptors.layouts();
        // SAFETY: the descriptors exist; the matrices have the bytes that the layouts state; alpha
        // and beta are of the type that the operation's descriptor states, and are read before the
        // call returns, because the pointer mode is set to the host.
        let code = unsafe {
            (self.functions.matmul)(
                self.handle,
                descriptors.operation(),
                (&raw const alpha).cast(),
                buffers.a.pointer(),
                a,
                buffers.b.pointer(),
                b,
                (&raw const beta).cast(),
                buffers.c.pointer(),
                c,
                buffers.d.pointer(),
                d,
                words.cast(),
                self.workspace.pointer(),
                workspace,
                null_mut(),
            )
        };
        let name = format!("{}Matmul", self.dialect.prefix);
        // The heuristic offered the algorithm, so that also `not supported` is an error here.
        check(&name, code, self.dialect.statuses, &[])
    }
}

/// Alpha or beta in the type of the sums, which has 4 bytes in each.
fn scalar_bits(compute: ComputeType, scalar: f64) -> u32 {
    match compute {
        ComputeType::F32 | ComputeType::Tf32 => (scalar as f32).to_bits(),
        ComputeType::I32 => (scalar as i32).cast_unsigned(),
    }
}

/// The id of an algorithm and its configuration.
fn describe(configuration: Option<ConfigurationOf>, algorithm: &[u64]) -> (String, String) {
    let Some(configuration) = configuration else {
        // hipBLASLt stores the solution index first, as `hipblaslt_ext::getIndexFromAlgo` reads it.
        return ((algorithm[0] as i32).to_string(), String::new());
    };
    let values: Vec<(&str, u32)> = dialect::CONFIGURATION
        .iter()
        .filter_map(|(name, number, bytes)| {
            Some((*name, attribute(configuration, algorithm, *number, *bytes)?))
        })
        .collect();
    let id = values
        .iter()
        .find(|(name, _)| *name == "id")
        .map_or_else(|| "unknown".to_owned(), |(_, id)| id.to_string());
    let others = values
        .iter()
        .filter(|(name, _)| *name != "id")
        .map(|(name, value)| format!("{name} {value}"));
    (id, others.collect::<Vec<String>>().join(", "))
}

/// An attribute of an algorithm, or `None` if the library does not have it.
fn attribute(
    configuration: ConfigurationOf,
    algorithm: &[u64],
    number: i32,
    bytes: usize,
) -> Option<u32> {
    let mut value = 0_u32;
    // SAFETY: `algorithm` is a structure of the library; `value` is writable for the bytes of every
    // attribute, at most 4.
    let code = unsafe {
        configuration(
            algorithm.as_ptr().cast(),
            number,
            (&raw mut value).cast(),
            bytes,
            null_mut(),
        )
    };
    (code == 0).then_some(value)
}

impl Drop for Lt {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library and is not used any more.
        unsafe { (self.functions.destroy)(self.handle) };
        // An error cannot be returned from here; the memory belongs to the process.
        let _ = self.gpu.release(self.workspace, WORKSPACE);
    }
}

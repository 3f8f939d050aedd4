//! The algorithm of each product of models: as measured, or as a file has it.

use super::trial::Trial;
use crate::{
    blas::{Algorithm, Blas},
    gpu::LibraryGpu,
    library_error::LibraryError,
    product::GemmCall,
    tuning::{TuningFile, TuningMode},
};
use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};
use testgen_types::{TunedAlgorithm, TunedProduct, TunedProductKey};

/// A file of measured products, with the device that it is used for.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// The file.
    pub file: Arc<TuningFile>,
    /// The name of the device, as its driver reports it.
    pub device: String,
}

/// The choice of algorithms on a device.
pub(super) struct Tuner {
    tuning: Tuning,
    /// By the description of the product.
    chosen: RefCell<HashMap<String, Option<ChosenAlgorithm>>>,
}

/// An algorithm, and the index of its library.
#[derive(Clone)]
pub(super) struct ChosenAlgorithm {
    pub(super) library: usize,
    pub(super) algorithm: Algorithm,
}

impl ChosenAlgorithm {
    /// The choice of the first library itself.
    pub(super) fn by_library() -> Self {
        Self {
            library: 0,
            algorithm: Algorithm::chosen_by_library(),
        }
    }
}

impl Tuner {
    pub(super) fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            chosen: RefCell::default(),
        }
    }

    /// How the choice is named beside the libraries.
    pub(super) fn label(&self) -> String {
        self.tuning.file.label()
    }

    /// The algorithm for `product`, or `None` if the file is only read and does not have it.
    pub(super) fn choose(
        &self,
        gpu: &Rc<dyn LibraryGpu>,
        libraries: &[Box<dyn Blas>],
        product: &GemmCall,
    ) -> Result<Option<ChosenAlgorithm>, LibraryError> {
        let description = product.to_string();
        if let Some(known) = self.chosen.borrow().get(&description) {
            return Ok(known.clone());
        }
        let key = TunedProductKey {
            device: self.tuning.device.clone(),
            libraries: libraries
                .iter()
                .map(|library| library.name().with_version(library.version()))
                .collect(),
            product: description.clone(),
        };
        let file = &self.tuning.file;
        let tuned = match (file.find(&key), file.mode()) {
            (Some(known), _) => Some(known),
            (None, TuningMode::Read) => None,
            (None, TuningMode::Measure) => Some(self.measured(gpu, libraries, product, key)?),
        };
        let chosen = tuned
            .map(|tuned| found(libraries, product, &tuned))
            .transpose()?;
        self.chosen.borrow_mut().insert(description, chosen.clone());
        Ok(chosen)
    }

    /// Measures every algorithm of every library, and adds the product to the file.
    fn measured(
        &self,
        gpu: &Rc<dyn LibraryGpu>,
        libraries: &[Box<dyn Blas>],
        product: &GemmCall,
        key: TunedProductKey,
    ) -> Result<TunedProduct, LibraryError> {
        let trial = Trial::new(&**gpu, product)?;
        let mut algorithms = Vec::new();
        for (index, library) in libraries.iter().enumerate() {
            for algorithm in offered(&**library, index, product)? {
                let (microseconds, problem) = match trial.measure(&**library, &algorithm)? {
                    Ok(microseconds) => (Some(microseconds), None),
                    Err(problem) => (None, Some(problem)),
                };
                algorithms.push(TunedAlgorithm {
                    library: library.name().to_string(),
                    id: algorithm.id,
                    configuration: algorithm.configuration,
                    microseconds,
                    problem,
                });
            }
        }
        let tuned = TunedProduct {
            version: TunedProduct::VERSION,
            key,
            algorithms,
        };
        self.tuning
            .file
            .add(&tuned)
            .map_err(|error| LibraryError::unsupported(&error.to_string()))?;
        Ok(tuned)
    }
}

/// The algorithms that a library offers; of the first library its own choice first, unless the
/// product has an epilogue, which the first library does not have.
fn offered(
    library: &dyn Blas,
    index: usize,
    product: &GemmCall,
) -> Result<Vec<Algorithm>, LibraryError> {
    let mut listed = library.algorithms(product)?;
    let own = Algorithm::chosen_by_library();
    listed.retain(|algorithm| *algorithm != own);
    if index == 0 && product.is_plain() {
        listed.insert(0, own);
    }
    Ok(listed)
}

/// The fastest correct algorithm, as its library lists it now.
fn found(
    libraries: &[Box<dyn Blas>],
    product: &GemmCall,
    tuned: &TunedProduct,
) -> Result<ChosenAlgorithm, LibraryError> {
    let Some(fastest) = tuned.fastest() else {
        let reason = format!("no algorithm computes {product}; the file of `--tune` says why");
        return Err(LibraryError::unsupported(&reason));
    };
    for (index, library) in libraries.iter().enumerate() {
        if library.name().to_string() != fastest.library {
            continue;
        }
        let listed = offered(&**library, index, product)?;
        let same = listed.into_iter().find(|algorithm| {
            algorithm.id == fastest.id && algorithm.configuration == fastest.configuration
        });
        if let Some(algorithm) = same {
            return Ok(ChosenAlgorithm {
                library: index,
                algorithm,
            });
        }
    }
    // The same version lists the same algorithms; without the algorithm the file does not fit.
    Err(LibraryError::unsupported(&format!(
        "{} does not offer algorithm {} for {product} any more; tune again",
        fastest.library, fastest.id
    )))
}

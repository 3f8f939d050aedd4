//! A matrix product with the algorithms of both libraries of a vendor.

use super::{
    product_trial::{ChosenAlgorithm, ProductTrial},
    tuner::{AlgorithmTrial, Tunable},
};
use crate::{
    blas::{Algorithm, Blas},
    gpu::LibraryGpu,
    library_error::LibraryError,
    product::GemmCall,
};
use testgen_types::{ComputationDescription, TunedAlgorithm};

/// A product on the libraries of a device.
pub(super) struct TunableProduct<'a> {
    pub(super) gpu: &'a dyn LibraryGpu,
    pub(super) libraries: &'a [Box<dyn Blas>],
    pub(super) product: &'a GemmCall,
}

impl Tunable for TunableProduct<'_> {
    type Algorithm = ChosenAlgorithm;

    fn description(&self) -> ComputationDescription {
        ComputationDescription::Product(self.product.to_string())
    }

    fn libraries(&self) -> Vec<String> {
        let libraries = self.libraries.iter();
        libraries
            .map(|library| library.name().with_version(library.version()))
            .collect()
    }

    fn offered(&self) -> Result<Vec<ChosenAlgorithm>, LibraryError> {
        let own = Algorithm::chosen_by_library();
        let mut offered = Vec::new();
        // The first library has no epilogue.
        if self.product.is_plain() {
            offered.push(ChosenAlgorithm::by_library());
        }
        for (library, blas) in self.libraries.iter().enumerate() {
            let mut listed = blas.algorithms(self.product)?;
            // The first library lists its own choice, too, which is offered already.
            listed.retain(|algorithm| *algorithm != own);
            let chosen = |algorithm| ChosenAlgorithm { library, algorithm };
            offered.extend(listed.into_iter().map(chosen));
        }
        Ok(offered)
    }

    fn named(&self, chosen: &ChosenAlgorithm) -> TunedAlgorithm {
        TunedAlgorithm {
            library: self.libraries[chosen.library].name().to_string(),
            id: chosen.algorithm.id.clone(),
            configuration: chosen.algorithm.configuration.clone(),
            microseconds: None,
            problem: None,
        }
    }

    fn trial(&self) -> Result<impl AlgorithmTrial<ChosenAlgorithm>, LibraryError> {
        ProductTrial::new(self.gpu, self.libraries, self.product)
    }
}

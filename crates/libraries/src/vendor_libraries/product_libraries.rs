//! Products of models: the algorithm of each, as it was tuned or by a rule.

use super::{
    bias::BiasProducts, product_trial::ChosenAlgorithm, tunable_product::TunableProduct,
    tuner::Tuner,
};
use crate::{
    blas::{Blas, Buffers},
    gpu::LibraryGpu,
    library_error::LibraryError,
    product::GemmCall,
};
use std::{cell::RefCell, collections::HashMap};

/// The libraries of products on a device.
pub(super) struct ProductLibraries {
    /// cuBLAS or rocBLAS, then cuBLASLt or hipBLASLt if it is installed. The first one multiplies,
    /// unless a tuner prefers the other; the second one adds a bias in the same kernel.
    libraries: Vec<Box<dyn Blas>>,
    /// By the description of the product; asking a library takes longer than a small product.
    /// `None` if no library has an algorithm with its bias.
    chosen: RefCell<HashMap<String, Option<ChosenAlgorithm>>>,
    biased: BiasProducts,
}

impl ProductLibraries {
    pub(super) fn new(libraries: Vec<Box<dyn Blas>>) -> Self {
        Self {
            libraries,
            chosen: RefCell::default(),
            biased: BiasProducts::default(),
        }
    }

    pub(super) fn libraries(&self) -> &[Box<dyn Blas>] {
        &self.libraries
    }

    /// Starts a product on the device's default stream.
    pub(super) fn run(
        &self,
        gpu: &dyn LibraryGpu,
        tuner: Option<&Tuner>,
        product: &GemmCall,
        buffers: Buffers,
    ) -> Result<(), LibraryError> {
        match self.choose(gpu, tuner, product, &buffers)? {
            Some(ChosenAlgorithm { library, algorithm }) => {
                self.libraries[library].run(product, &algorithm, buffers)
            }
            // Also for a bias and unaligned matrices: the first library chooses by the addresses.
            None => self.biased.run(gpu, &*self.libraries[0], product, buffers),
        }
    }

    /// The algorithm of a product, or `None` if no library has one with its bias.
    fn choose(
        &self,
        gpu: &dyn LibraryGpu,
        tuner: Option<&Tuner>,
        product: &GemmCall,
        buffers: &Buffers,
    ) -> Result<Option<ChosenAlgorithm>, LibraryError> {
        let own = || product.is_plain().then(ChosenAlgorithm::by_library);
        // A list has algorithms of aligned matrices; a library that chooses looks at the addresses.
        if !buffers.are_aligned() || (tuner.is_none() && product.is_plain()) {
            return Ok(own());
        }
        let description = product.to_string();
        if let Some(known) = self.chosen.borrow().get(&description) {
            return Ok(known.clone());
        }
        let computation = TunableProduct {
            gpu,
            libraries: &self.libraries,
            product,
        };
        let tuned = tuner.map_or(Ok(None), |tuner| tuner.choose(&computation))?;
        let chosen = match tuned.or_else(own) {
            None => self.preferred(product)?,
            chosen => chosen,
        };
        self.chosen.borrow_mut().insert(description, chosen.clone());
        Ok(chosen)
    }

    /// The first algorithm that the second library lists, which is the same in each run of a
    /// version.
    fn preferred(&self, product: &GemmCall) -> Result<Option<ChosenAlgorithm>, LibraryError> {
        // cuBLASLt or hipBLASLt: the first library has no epilogue.
        let library = 1;
        let Some(light) = self.libraries.get(library) else {
            return Ok(None);
        };
        let listed = light.algorithms(product)?;
        let first = listed.into_iter().next();
        Ok(first.map(|algorithm| ChosenAlgorithm { library, algorithm }))
    }
}

//! The algorithm that cuBLASLt or hipBLASLt prefers for each product of models.

use crate::{
    blas::{Algorithm, Blas},
    library_error::LibraryError,
    product::GemmCall,
};
use std::{cell::RefCell, collections::HashMap};

/// The first algorithm of the library's list, which is the same in each run of a version.
#[derive(Default)]
pub(super) struct PreferredAlgorithms {
    /// By the description of the product. Asking the library takes longer than a small product.
    chosen: RefCell<HashMap<String, Option<Algorithm>>>,
}

impl PreferredAlgorithms {
    /// The algorithm of `library` for `product`, or `None` if it has none.
    pub(super) fn choose(
        &self,
        library: &dyn Blas,
        product: &GemmCall,
    ) -> Result<Option<Algorithm>, LibraryError> {
        let description = product.to_string();
        if let Some(known) = self.chosen.borrow().get(&description) {
            return Ok(known.clone());
        }
        let first = library.algorithms(product)?.into_iter().next();
        self.chosen.borrow_mut().insert(description, first.clone());
        Ok(first)
    }
}

//! Convolutions of operators, with the algorithm that the library prefers among algorithms that add
//! products: the reference of operators has the bounds of sums.

use super::call_error::{device_error, library_error, not_computed};
use crate::{
    convolution_library::{ConvolutionAlgorithm, ConvolutionLibrary},
    convolution_problem::ConvolutionProblem,
    convolutions::{ConvolutionCase, OpenedConvolutions},
    gpu::LibraryGpu,
    library_error::LibraryError,
};
use testgen_operators::calls::{Call, CallError, HostTensor};
use testgen_types::{Operator, Precision};

/// Computes `conv1d`, `conv2d`, `conv3d` and `conv_transpose2d`, and products of matrices as
/// convolutions whose windows have one element.
pub(super) struct ConvolutionExecutor<'a> {
    pub(super) gpu: &'a dyn LibraryGpu,
    pub(super) library: &'a dyn ConvolutionLibrary,
    pub(super) precision: Precision,
}

impl ConvolutionExecutor<'_> {
    pub(super) fn execute(&self, call: &Call) -> Result<HostTensor, CallError> {
        let problem = ConvolutionProblem::of_call(call, self.precision).map_err(|problem| {
            CallError::Inputs {
                operator: call.operator,
                problem: problem.to_owned(),
            }
        })?;
        let values = if problem.x.contains(&0) || problem.y.contains(&0) {
            // The libraries reject lengths of zero.
            vec![0.0; problem.y.iter().product()]
        } else {
            self.convolve(call, &problem)?
        };
        let mut shape = problem.y.clone();
        // The problem of one dimension has a second one of length 1 before it.
        if call.operator == Operator::Conv1d {
            shape.remove(2);
        }
        Ok(biased(
            HostTensor::new(shape, problem.element, values),
            call,
        ))
    }

    fn convolve(&self, call: &Call, problem: &ConvolutionProblem) -> Result<Vec<f64>, CallError> {
        let algorithm = self.algorithm(call, problem)?;
        let opened = OpenedConvolutions {
            gpu: self.gpu,
            library: self.library,
        };
        let factors = [0, 1].map(|input| call.inputs[input].tensor.values.as_slice());
        let failed = |error: LibraryError| device_error(call, &error);
        let result = ConvolutionCase::new(opened, problem, factors)
            .and_then(|case| case.compute(&algorithm))
            .map_err(|error| failed(error.into()))?;
        result.values().map_err(failed)
    }

    fn algorithm(
        &self,
        call: &Call,
        problem: &ConvolutionProblem,
    ) -> Result<ConvolutionAlgorithm, CallError> {
        let offered = self
            .library
            .algorithms(problem)
            .map_err(|error| library_error(call, error))?;
        let name = self.library.name();
        preferred(offered).ok_or_else(|| {
            let message = format!("{name} offers no algorithm that adds products: {problem}");
            not_computed(call, message)
        })
    }
}

/// The first algorithm without a transform; a deterministic one if the library names any.
fn preferred(offered: Vec<ConvolutionAlgorithm>) -> Option<ConvolutionAlgorithm> {
    let mut adding: Vec<ConvolutionAlgorithm> = offered
        .into_iter()
        .filter(|algorithm| !algorithm.transforms)
        .collect();
    // A suite requires the same bits in every run.
    adding.sort_by_key(|algorithm| !algorithm.deterministic);
    adding.into_iter().next()
}

/// Adds the bias of each channel on the host.
fn biased(product: HostTensor, call: &Call) -> HostTensor {
    // PyTorch adds the bias in a separate kernel, which is not one of the library.
    let Some(bias) = call.tensor(2).filter(|bias| !bias.is_empty()) else {
        return product;
    };
    let positions: usize = product.shape[2..].iter().product();
    let add = |(index, value): (usize, &f64)| {
        let added = value + bias.values[index / positions.max(1) % bias.len()];
        // The sum is f32, and rounded once more to the type of the result.
        f64::from(added as f32)
    };
    let values = product.values.iter().enumerate().map(add).collect();
    HostTensor::new(product.shape, product.element, values)
}

#[cfg(test)]
mod tests {
    use super::{ConvolutionAlgorithm, preferred};

    fn algorithm(number: u64, transforms: bool, deterministic: bool) -> ConvolutionAlgorithm {
        ConvolutionAlgorithm {
            id: number.to_string(),
            configuration: String::new(),
            transforms,
            deterministic,
            workspace: 0,
            number,
            math: 0,
        }
    }

    #[test]
    fn the_first_deterministic_algorithm_without_a_transform_is_preferred() {
        let winograd = algorithm(0, true, true);
        let [atomic, other_atomic] = [1, 2].map(|number| algorithm(number, false, false));
        let [fixed, other_fixed] = [3, 4].map(|number| algorithm(number, false, true));
        let number = |offered: &[&ConvolutionAlgorithm]| {
            let offered = offered.iter().map(|one| (*one).clone()).collect();
            preferred(offered).map(|algorithm| algorithm.number)
        };
        assert_eq!(number(&[&winograd, &atomic, &fixed, &other_fixed]), Some(3));
        assert_eq!(number(&[&winograd, &atomic, &other_atomic]), Some(1));
        assert_eq!(number(&[&winograd]), None);
    }
}

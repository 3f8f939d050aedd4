//! A convolution with the algorithms of its library.

use super::{
    convolution_trial::ConvolutionTrial,
    tuner::{AlgorithmTrial, Tunable},
};
use crate::{
    convolution_library::ConvolutionAlgorithm,
    convolution_problem::ConvolutionProblem,
    convolutions::{MOST_WORKSPACE, OpenedConvolutions},
    library_error::LibraryError,
};
use testgen_types::{ComputationDescription, TunedAlgorithm};

/// A convolution on the library of a device.
pub(super) struct TunableConvolution<'a> {
    pub(super) opened: OpenedConvolutions<'a>,
    pub(super) problem: &'a ConvolutionProblem,
}

impl Tunable for TunableConvolution<'_> {
    type Algorithm = ConvolutionAlgorithm;

    fn description(&self) -> ComputationDescription {
        ComputationDescription::Convolution(self.problem.to_string())
    }

    fn libraries(&self) -> Vec<String> {
        let library = self.opened.library;
        vec![library.name().with_version(library.version())]
    }

    fn offered(&self) -> Result<Vec<ConvolutionAlgorithm>, LibraryError> {
        self.opened.library.algorithms(self.problem).map(usable)
    }

    fn named(&self, algorithm: &ConvolutionAlgorithm) -> TunedAlgorithm {
        TunedAlgorithm {
            library: self.opened.library.name().to_string(),
            id: algorithm.id.clone(),
            configuration: algorithm.configuration.clone(),
            microseconds: None,
            problem: None,
        }
    }

    fn trial(&self) -> Result<impl AlgorithmTrial<ConvolutionAlgorithm>, LibraryError> {
        ConvolutionTrial::new(self.opened, self.problem)
    }
}

/// The algorithms whose workspace is not too large; only deterministic ones if the library names
/// any. Transforms (Winograd, FFT) are among them, as in the programs that models are deployed
/// with.
fn usable(mut offered: Vec<ConvolutionAlgorithm>) -> Vec<ConvolutionAlgorithm> {
    offered.retain(|algorithm| algorithm.workspace <= MOST_WORKSPACE);
    // A suite requires the same bits in every run.
    if offered.iter().any(|algorithm| algorithm.deterministic) {
        offered.retain(|algorithm| algorithm.deterministic);
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::{ConvolutionAlgorithm, MOST_WORKSPACE, usable};

    fn algorithm(number: u64, deterministic: bool, workspace: usize) -> ConvolutionAlgorithm {
        ConvolutionAlgorithm {
            id: number.to_string(),
            configuration: String::new(),
            transforms: number == 0,
            deterministic,
            workspace,
            number,
            math: 0,
        }
    }

    #[test]
    fn deterministic_algorithms_that_fit_are_usable_in_their_order() {
        let numbers = |offered: &[ConvolutionAlgorithm]| -> Vec<u64> {
            let usable = usable(offered.to_vec());
            usable.iter().map(|algorithm| algorithm.number).collect()
        };
        let [large, winograd] = [MOST_WORKSPACE + 1, 0].map(|bytes| algorithm(0, true, bytes));
        let [atomic, other] = [1, 2].map(|number| algorithm(number, false, 8));
        let fixed = algorithm(3, true, 8);
        let all = [atomic.clone(), winograd, fixed];
        assert_eq!(numbers(&all), [0, 3]);
        assert_eq!(numbers(&[large.clone(), atomic, other]), [1, 2]);
        assert!(numbers(&[large]).is_empty());
    }
}

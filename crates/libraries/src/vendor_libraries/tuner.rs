//! The algorithm of each computation of models: as measured, or as a file has it.
//!
//! Owns the interface of what is tuned. Does not own products and convolutions, which are two kinds
//! of it.

use crate::{
    library_error::LibraryError,
    tuning::{TuningFile, TuningMode},
};
use std::sync::Arc;
use testgen_types::{
    ComputationDescription, TunedAlgorithm, TunedComputation, TunedComputationKey,
};

/// A file of measured computations, with the device that it is used for.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// The file.
    pub file: Arc<TuningFile>,
    /// The name of the device, as its driver reports it.
    pub device: String,
}

/// The choice of algorithms on a device.
pub(super) struct Tuner(Tuning);

/// A computation with the libraries that offer algorithms for it.
pub(super) trait Tunable {
    /// An algorithm, as its library reads it.
    type Algorithm;

    /// Its types, sizes and layout.
    fn description(&self) -> ComputationDescription;

    /// The libraries with their versions.
    fn libraries(&self) -> Vec<String>;

    /// The algorithms that may compute it; first the choice of the libraries themselves.
    fn offered(&self) -> Result<Vec<Self::Algorithm>, LibraryError>;

    /// An algorithm as the file names it, without a measurement.
    fn named(&self, algorithm: &Self::Algorithm) -> TunedAlgorithm;

    /// Copies inputs to the device, and computes the reference.
    fn trial(&self) -> Result<impl AlgorithmTrial<Self::Algorithm>, LibraryError>;
}

/// A computation on made inputs in the memory of a device.
pub(super) trait AlgorithmTrial<A> {
    /// Computes with an algorithm, and measures it if the result is correct. An error is one of the
    /// device.
    fn measure(&self, algorithm: &A) -> Result<AlgorithmMeasurement, LibraryError>;
}

/// The measurement of an algorithm.
pub(super) enum AlgorithmMeasurement {
    /// It is correct; the median time.
    Microseconds(f64),
    /// Why it is not correct.
    Wrong(String),
    /// Every element was written, and the bounds are too wide to say more.
    Undecided,
}

impl Tuner {
    pub(super) fn new(tuning: Tuning) -> Self {
        Self(tuning)
    }

    /// How the choice is named beside the libraries.
    pub(super) fn label(&self) -> String {
        self.0.file.label()
    }

    /// The algorithm for `computation`, or `None` if the file is only read and does not have it.
    pub(super) fn choose<T: Tunable>(
        &self,
        computation: &T,
    ) -> Result<Option<T::Algorithm>, LibraryError> {
        let key = TunedComputationKey {
            device: self.0.device.clone(),
            libraries: computation.libraries(),
            computation: computation.description(),
        };
        let file = &self.0.file;
        let tuned = match (file.find(&key), file.mode()) {
            (Some(known), _) => known,
            // `--tuned` measures nothing; the library chooses.
            (None, TuningMode::Read) => return Ok(None),
            (None, TuningMode::Measure) => {
                let measured = measured(computation, key)?;
                file.add(&measured)
                    .map_err(|error| LibraryError::unsupported(&error.to_string()))?;
                measured
            }
        };
        found(computation, &tuned).map(Some)
    }
}

/// Measures every algorithm of every library.
fn measured(
    computation: &impl Tunable,
    key: TunedComputationKey,
) -> Result<TunedComputation, LibraryError> {
    let trial = computation.trial()?;
    let mut algorithms = Vec::new();
    for algorithm in computation.offered()? {
        let (microseconds, problem) = match trial.measure(&algorithm)? {
            AlgorithmMeasurement::Microseconds(microseconds) => (Some(microseconds), None),
            AlgorithmMeasurement::Wrong(problem) => (None, Some(problem)),
            // Not a problem: the choice of the libraries themselves may remain undecided, and
            // `best` still takes it if nothing else was timed.
            AlgorithmMeasurement::Undecided => (None, None),
        };
        algorithms.push(TunedAlgorithm {
            microseconds,
            problem,
            ..computation.named(&algorithm)
        });
    }
    Ok(TunedComputation {
        version: TunedComputation::VERSION,
        key,
        algorithms,
    })
}

/// The best algorithm, as its library offers it now.
fn found<T: Tunable>(
    computation: &T,
    tuned: &TunedComputation,
) -> Result<T::Algorithm, LibraryError> {
    let description = &tuned.key.computation;
    let Some(best) = tuned.best() else {
        let reason = format!("no algorithm computes {description}; the file of `--tune` says why");
        return Err(LibraryError::unsupported(&reason));
    };
    let mut offered = computation.offered()?.into_iter();
    let same = offered.find(|algorithm| computation.named(algorithm).is_same(best));
    // The same version offers the same algorithms; without the algorithm the file does not fit.
    same.ok_or_else(|| {
        LibraryError::unsupported(&format!(
            "{} does not offer algorithm {} for {description} any more; tune again",
            best.library, best.id
        ))
    })
}

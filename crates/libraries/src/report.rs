//! The results of a library by type, variant and algorithm.

use crate::{evaluation::ResultEvaluation, gpu::GpuError, library::LibraryName, open::Opened};
use serde::Serialize;
use std::collections::BTreeMap;

/// The most failures of an algorithm that are described.
const DESCRIBED: usize = 3;

/// The results of a library on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LibraryReport {
    /// The library.
    pub library: LibraryName,
    /// Its version.
    pub version: String,
    /// Its file.
    pub path: String,
    /// A row for each algorithm of each type and variant.
    pub rows: Vec<AlgorithmRow>,
    /// Computations that the library does not have, or that were not computed, and results about
    /// which their bound decides nothing.
    pub unsupported: Vec<UnsupportedGroup>,
    /// The most bytes that were allocated at a time, without memory that the library allocates.
    pub peak_bytes: u64,
    /// The error of the device that ended the run early.
    pub aborted: Option<String>,
}

/// An algorithm of a type and variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlgorithmRow {
    /// The types, for instance `f16`.
    pub arithmetic: String,
    /// `NT`: the product of A as it is and B transposed; of convolutions the operator.
    pub variant: String,
    /// The id or solution index of the algorithm.
    pub algorithm: String,
    /// The results that it computed.
    pub results: usize,
    /// Results that are wrong.
    pub failed: usize,
    /// The smallest of bound / error over all results, or `None` if every result is exact.
    pub headroom: Option<f64>,
    /// The first failures.
    pub failures: Vec<WrongResult>,
}

/// A result that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrongResult {
    /// The product or the convolution with its sizes.
    pub computation: String,
    /// The configuration of the algorithm.
    pub configuration: String,
    /// The difference, or the library's error.
    pub problem: String,
}

/// Computations that were not computed or not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnsupportedGroup {
    /// The types.
    pub arithmetic: String,
    /// The variant.
    pub variant: String,
    /// Why.
    pub reason: String,
    /// Their number.
    pub computations: usize,
}

/// A product or a convolution as reports name it.
#[derive(Debug, Clone)]
pub(crate) struct NamedComputation {
    /// The types.
    pub(crate) arithmetic: String,
    /// The variant, by which rows are grouped.
    pub(crate) variant: String,
    /// Everything, with its sizes.
    pub(crate) description: String,
}

/// The computation at which the device failed, after which nothing else can be computed.
#[derive(Debug)]
pub(crate) struct InterruptedComputation {
    /// The computation.
    pub(crate) computation: NamedComputation,
    /// The error of the device.
    pub(crate) error: GpuError,
}

impl LibraryReport {
    /// Whether every computed result is right, and at least one was computed.
    pub fn passes(&self) -> bool {
        self.aborted.is_none()
            // A library without a single result has not shown anything.
            && !self.rows.is_empty()
            && self.rows.iter().all(|row| row.failed == 0)
    }

    /// The number of results that were computed, one for each algorithm.
    pub fn results(&self) -> usize {
        self.rows.iter().map(|row| row.results).sum()
    }
}

/// Collects results while they are computed.
pub(crate) struct Reporter {
    report: LibraryReport,
    rows: BTreeMap<[String; 3], AlgorithmRow>,
    unsupported: BTreeMap<[String; 3], usize>,
}

impl Reporter {
    pub(crate) fn new(opened: &Opened) -> Self {
        let report = LibraryReport {
            library: opened.name(),
            version: opened.version().to_owned(),
            path: opened.path.clone(),
            rows: Vec::new(),
            unsupported: Vec::new(),
            peak_bytes: 0,
            aborted: None,
        };
        Self {
            report,
            rows: BTreeMap::new(),
            unsupported: BTreeMap::new(),
        }
    }

    pub(crate) fn unsupported(&mut self, computation: &NamedComputation, reason: &str) {
        let key = [
            computation.arithmetic.clone(),
            computation.variant.clone(),
            reason.to_owned(),
        ];
        *self.unsupported.entry(key).or_default() += 1;
    }

    /// Adds the result of an algorithm, `[id, configuration]`.
    pub(crate) fn computed(
        &mut self,
        computation: &NamedComputation,
        algorithm: [&str; 2],
        evaluation: ResultEvaluation,
    ) {
        match evaluation.failure {
            Some(failure) => self.failed(computation, algorithm, failure),
            None => self.row(computation, algorithm[0]).results += 1,
        }
        // The headroom of exact results is infinite, for which JSON has no number.
        if evaluation.headroom.is_finite() {
            let row = self.row(computation, algorithm[0]);
            row.headroom = Some(
                row.headroom
                    .map_or(evaluation.headroom, |least| least.min(evaluation.headroom)),
            );
        }
    }

    /// Adds a failure of an algorithm, `[id, configuration]`.
    pub(crate) fn failed(
        &mut self,
        computation: &NamedComputation,
        [algorithm, configuration]: [&str; 2],
        problem: String,
    ) {
        let row = self.row(computation, algorithm);
        row.results += 1;
        row.failed += 1;
        if row.failures.len() < DESCRIBED {
            row.failures.push(WrongResult {
                computation: computation.description.clone(),
                configuration: configuration.to_owned(),
                problem,
            });
        }
    }

    pub(crate) fn aborted(
        mut self,
        computation: &NamedComputation,
        error: &GpuError,
    ) -> LibraryReport {
        self.report.aborted = Some(format!(
            "{}: the device failed, later results were not computed: {error}",
            computation.description
        ));
        self.finish(0)
    }

    pub(crate) fn finish(self, peak_bytes: u64) -> LibraryReport {
        LibraryReport {
            rows: self.rows.into_values().collect(),
            unsupported: self
                .unsupported
                .into_iter()
                .map(
                    |([arithmetic, variant, reason], computations): ([String; 3], usize)| {
                        UnsupportedGroup {
                            arithmetic,
                            variant,
                            reason,
                            computations,
                        }
                    },
                )
                .collect(),
            peak_bytes,
            ..self.report
        }
    }

    fn row(&mut self, computation: &NamedComputation, algorithm: &str) -> &mut AlgorithmRow {
        let key = [
            computation.arithmetic.clone(),
            computation.variant.clone(),
            algorithm.to_owned(),
        ];
        let [arithmetic, variant, algorithm] = key.clone();
        self.rows.entry(key).or_insert(AlgorithmRow {
            arithmetic,
            variant,
            algorithm,
            results: 0,
            failed: 0,
            headroom: None,
            failures: Vec::new(),
        })
    }
}

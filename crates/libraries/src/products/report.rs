//! The results of products by type, transposition and algorithm.

use super::evaluation::ProductEvaluation;
use crate::{blas::Algorithm, gpu::GpuError, library::LibraryName, open::Opened, product::Gemm};
use serde::Serialize;
use std::collections::BTreeMap;

/// The most failures of an algorithm that are described.
const DESCRIBED: usize = 3;

/// The results of a library on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProductsReport {
    /// The library.
    pub library: LibraryName,
    /// Its version.
    pub version: String,
    /// Its file.
    pub path: String,
    /// A row for each algorithm of each type and transposition.
    pub rows: Vec<AlgorithmRow>,
    /// Products that the library does not have, or that were not computed.
    pub unsupported: Vec<UnsupportedGroup>,
    /// The most bytes that were allocated at a time, without those of the library.
    pub peak_bytes: u64,
    /// The error of the device that ended the run early.
    pub aborted: Option<String>,
}

/// An algorithm of a type and transposition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlgorithmRow {
    /// The types, for instance `f16`.
    pub arithmetic: String,
    /// `NT`: A as it is, B transposed.
    pub transposes: String,
    /// The id or solution index of the algorithm.
    pub algorithm: String,
    /// The products that it computed.
    pub products: usize,
    /// Those that are wrong.
    pub failed: usize,
    /// The smallest of bound / error over all products, or `None` if every result is exact.
    pub headroom: Option<f64>,
    /// The first failures.
    pub failures: Vec<ProductFailure>,
}

/// A product that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProductFailure {
    /// The product with its sizes.
    pub product: String,
    /// The configuration of the algorithm.
    pub configuration: String,
    /// The difference, or the library's error.
    pub problem: String,
}

/// Products that were not computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnsupportedGroup {
    /// The types.
    pub arithmetic: String,
    /// The transposition.
    pub transposes: String,
    /// Why.
    pub reason: String,
    /// Their number.
    pub products: usize,
}

impl ProductsReport {
    /// Whether every computed product is right, and at least one was computed.
    pub fn passes(&self) -> bool {
        self.aborted.is_none()
            && !self.rows.is_empty()
            && self.rows.iter().all(|row| row.failed == 0)
    }

    /// The number of products that were computed, one for each algorithm.
    pub fn products(&self) -> usize {
        self.rows.iter().map(|row| row.products).sum()
    }
}

/// Collects results while products are computed.
pub(super) struct Reporter {
    report: ProductsReport,
    rows: BTreeMap<[String; 3], AlgorithmRow>,
    unsupported: BTreeMap<[String; 3], usize>,
}

impl Reporter {
    pub(super) fn new(opened: &Opened) -> Self {
        let report = ProductsReport {
            library: opened.blas.name(),
            version: opened.blas.version().to_owned(),
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

    pub(super) fn unsupported(&mut self, product: &Gemm, reason: &str) {
        let key = [
            product.arithmetic.to_string(),
            product.transposes(),
            reason.to_owned(),
        ];
        *self.unsupported.entry(key).or_default() += 1;
    }

    pub(super) fn computed(
        &mut self,
        product: &Gemm,
        algorithm: &Algorithm,
        evaluation: ProductEvaluation,
    ) {
        match evaluation.failure {
            Some(failure) => self.failed(
                product,
                &algorithm.id,
                algorithm.configuration.clone(),
                failure,
            ),
            None => self.row(product, &algorithm.id).products += 1,
        }
        if evaluation.headroom.is_finite() {
            let row = self.row(product, &algorithm.id);
            row.headroom = Some(
                row.headroom
                    .map_or(evaluation.headroom, |least| least.min(evaluation.headroom)),
            );
        }
    }

    pub(super) fn failed(
        &mut self,
        product: &Gemm,
        algorithm: &str,
        configuration: String,
        problem: String,
    ) {
        let row = self.row(product, algorithm);
        row.products += 1;
        row.failed += 1;
        if row.failures.len() < DESCRIBED {
            row.failures.push(ProductFailure {
                product: product.to_string(),
                configuration,
                problem,
            });
        }
    }

    pub(super) fn aborted(mut self, product: &Gemm, error: &GpuError) -> ProductsReport {
        self.report.aborted = Some(format!(
            "{product}: the device failed, later products were not computed: {error}"
        ));
        self.finish(0)
    }

    pub(super) fn finish(self, peak_bytes: u64) -> ProductsReport {
        let group =
            |([arithmetic, transposes, reason], products): ([String; 3], usize)| UnsupportedGroup {
                arithmetic,
                transposes,
                reason,
                products,
            };
        ProductsReport {
            rows: self.rows.into_values().collect(),
            unsupported: self.unsupported.into_iter().map(group).collect(),
            peak_bytes,
            ..self.report
        }
    }

    fn row(&mut self, product: &Gemm, algorithm: &str) -> &mut AlgorithmRow {
        let key = [
            product.arithmetic.to_string(),
            product.transposes(),
            algorithm.to_owned(),
        ];
        let [arithmetic, transposes, algorithm] = key.clone();
        self.rows.entry(key).or_insert(AlgorithmRow {
            arithmetic,
            transposes,
            algorithm,
            products: 0,
            failed: 0,
            headroom: None,
            failures: Vec::new(),
        })
    }
}

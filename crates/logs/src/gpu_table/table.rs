//! The content of a table of GPUs.

use super::{gpu_metric::GpuMetric, tool::GpuTool};
use crate::statistics::MetricSummary;
use serde::Serialize;
use std::collections::BTreeMap;

/// The content of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuTable {
    /// The file.
    pub path: String,
    /// The program that printed it.
    pub tool: GpuTool,
    /// Rows with at least one number.
    pub rows: u64,
    /// Lines that are neither a heading nor a row.
    pub unmatched: u64,
    /// Each GPU by its index as printed.
    pub gpus: BTreeMap<String, GpuSummary>,
}

/// The numbers of one GPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GpuSummary {
    /// Its name, if a column has it.
    pub name: Option<String>,
    /// The version of its driver, if a column has it.
    pub driver: Option<String>,
    /// Each quantity that occurs.
    pub metrics: BTreeMap<GpuMetric, MetricSummary>,
}

//! One line of the report of `testgen kernels`: one kernel on one matrix product.
//!
//! The runtime writes these lines, the CLI reads them. Adding a field is compatible; changing one
//! requires a new [`KernelEntry::VERSION`].

use crate::{
    check::Check, device_kind::DeviceKind, precision::Precision, report_entry::HardwareInfo,
};
use serde::{Deserialize, Serialize};

/// The outcome of a kernel on a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelOutcome {
    /// An element is further from the exact value than rounding explains, or the kernel wrote
    /// outside of the result.
    Wrong,
    /// A panic, an error of the device, the end of the process, or no answer.
    Crashed,
    /// Not computed, because the kernel had crashed several times in this precision.
    NotRun,
    /// The library returned an error instead of launching the kernel.
    Refused,
    /// Every element is within its bound.
    Correct,
}

/// A factor of a product as the kernel reads it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FactorLayout {
    /// The sizes: batch dimensions, rows, columns.
    pub shape: Vec<usize>,
    /// The distances between neighbours in each dimension, in elements.
    pub strides: Vec<usize>,
}

/// One kernel on one product, one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelEntry {
    /// [`KernelEntry::VERSION`] of the writer.
    pub version: u32,
    /// The kernel with its options, by the library's own name.
    pub kernel: String,
    /// The kind of the device.
    pub device: DeviceKind,
    /// The device's name, as its driver reports it.
    pub device_name: String,
    /// Further facts about the device.
    pub hardware: HardwareInfo,
    /// Whether the device is a software simulation.
    #[serde(default)]
    pub simulated: bool,
    /// How the kernel computes: `tf32` for a product of f32 by matrix units.
    pub precision: Precision,
    /// The left factor.
    pub left: FactorLayout,
    /// The right factor.
    pub right: FactorLayout,
    /// The outcome.
    pub outcome: KernelOutcome,
    /// The smallest bound / error of the elements; absent where nothing was compared, and where
    /// every element is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<f64>,
    /// Why the outcome is not `correct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the rule chooses this kernel for the product, so that checks depend on it.
    pub chosen: bool,
    /// A model that computes a product of this shape and layout, in this or another type: the first
    /// one that did.
    pub model: String,
    /// The check in which it did.
    pub check: Check,
    /// Whether no model computed it with this layout: batches are laid out as for a single
    /// attention head.
    #[serde(default)]
    pub one_head: bool,
}

impl KernelEntry {
    /// The version of this line format.
    pub const VERSION: u32 = 1;

    /// Whether checks depend on a kernel that does not compute the product correctly. A kernel that
    /// refuses is not a failure: the rule chooses another one then.
    pub fn is_failure(&self) -> bool {
        // `NotRun` counts: a kernel that crashed several times is not known to be correct for the
        // products that follow.
        let incorrect = matches!(
            self.outcome,
            KernelOutcome::Wrong | KernelOutcome::Crashed | KernelOutcome::NotRun
        );
        self.chosen && incorrect
    }

    /// The product in short: `[2, 4, 16, 8] x [2, 4, 8, 16]`.
    pub fn product(&self) -> String {
        format!("{:?} x {:?}", self.left.shape, self.right.shape)
    }
}

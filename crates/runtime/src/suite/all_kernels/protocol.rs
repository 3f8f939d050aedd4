//! The messages between the pool and a worker: the task as JSON on the worker's standard input, the
//! answers as lines on its standard output.

use serde::{Deserialize, Serialize};
use testgen_gpu::Product;
use testgen_kernels::CandidateResult;
use testgen_types::{DeviceKind, KernelOutcome};

/// The start of an answer's line.
// Libraries may print other lines.
pub(super) const PREFIX: &str = "testgen-kernel ";

/// Products for one kernel on one device.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KernelTask {
    pub(super) device: DeviceKind,
    /// The ordinal of the device among the devices of its kind.
    pub(super) index: u32,
    /// The number of the kernel in `Candidate::all`.
    pub(super) kernel: usize,
    /// The products, each with its number.
    pub(super) products: Vec<(usize, Product)>,
}

/// A line of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum WorkerAnswer {
    /// The kernel starts on the product with this number.
    Started(usize),
    /// Its result.
    Found(KernelResult),
}

/// The result of one kernel on one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KernelResult {
    pub(super) kernel: usize,
    pub(super) product: usize,
    pub(super) outcome: KernelOutcome,
    pub(super) headroom: Option<f64>,
    pub(super) reason: Option<String>,
}

impl KernelResult {
    pub(super) fn new(kernel: usize, product: usize, finding: CandidateResult) -> Self {
        let (outcome, headroom, reason) = match finding {
            // An exact product has an infinite headroom, which JSON does not have.
            CandidateResult::Correct { headroom } => (
                KernelOutcome::Correct,
                Some(headroom).filter(|headroom| headroom.is_finite()),
                None,
            ),
            CandidateResult::Wrong { headroom, what } => {
                (KernelOutcome::Wrong, Some(headroom), Some(what))
            }
            CandidateResult::Refused { why } => {
                (KernelOutcome::Refused, None, Some(shortened(&why)))
            }
            CandidateResult::Crashed { why } => {
                (KernelOutcome::Crashed, None, Some(shortened(&why)))
            }
        };
        Self {
            kernel,
            product,
            outcome,
            headroom,
            reason,
        }
    }
}

/// One line: messages of compilers contain the source of the kernel.
fn shortened(message: &str) -> String {
    message
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(300)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{CandidateResult, KernelResult, WorkerAnswer};

    #[test]
    fn an_exact_product_has_no_headroom_in_json() {
        let answer = WorkerAnswer::Found(KernelResult::new(
            1,
            2,
            CandidateResult::Correct {
                headroom: f64::INFINITY,
            },
        ));
        let text = serde_json::to_string(&answer).expect("it has string keys only");
        assert!(
            text.contains("\"headroom\":null") && text.contains("\"correct\""),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<WorkerAnswer>(&text).expect("it is what was written"),
            answer
        );
    }
}

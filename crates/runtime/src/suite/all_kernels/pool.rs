//! A process for each kernel, several at a time. A kernel whose process ends continues with its
//! next product in another one.

use super::{
    collect::RecordedProduct,
    process::{self, Ended},
    protocol::{KernelResult, KernelTask},
};
use crate::open::OpenDevice;
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use testgen_gpu::Product;
use testgen_types::{KernelOutcome, Precision};

/// More contexts on one device do not compute faster.
const MOST_PROCESSES: usize = 8;
/// A kernel that crashed as often in one type is not run on further products of it.
// Each crash costs a process.
const MOST_CRASHES: usize = 3;

/// Computes every product with each of the kernels, and passes each result to `report`.
pub(super) fn run(
    device: &OpenDevice,
    kernels: &[usize],
    products: &[RecordedProduct],
    mut report: impl FnMut(KernelResult) -> Result<(), String>,
) -> Result<(), String> {
    let kernels: Mutex<VecDeque<usize>> = Mutex::new(kernels.iter().copied().collect());
    let processes = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_PROCESSES);
    let (sender, results) = channel();
    thread::scope(|scope| {
        for _ in 0..processes {
            let (results, kernels) = (sender.clone(), &kernels);
            scope.spawn(move || {
                while let Some(kernel) = next(kernels) {
                    let remaining = Remaining::new(device, kernel, products, &results);
                    if let Err(error) = remaining.run(process::run) {
                        // The receiver is gone once a result could not be reported.
                        drop(results.send(Err(error)));
                    }
                }
            });
        }
        // The loop below ends once the last thread has dropped its sender.
        drop(sender);
        let reported = results.into_iter().try_for_each(|result| report(result?));
        if reported.is_err() {
            // Their results could not be reported either.
            kernels
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clear();
        }
        reported
    })
}

/// The next kernel.
fn next(kernels: &Mutex<VecDeque<usize>>) -> Option<usize> {
    // In a function, so that the lock is released before the kernel runs.
    kernels
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

/// One kernel with the products that it has not computed yet.
struct Remaining<'a> {
    task: KernelTask,
    crashes: BTreeMap<Precision, usize>,
    results: &'a Sender<Result<KernelResult, String>>,
}

impl<'a> Remaining<'a> {
    fn new(
        device: &OpenDevice,
        kernel: usize,
        products: &[RecordedProduct],
        results: &'a Sender<Result<KernelResult, String>>,
    ) -> Self {
        let facts = device.facts();
        let products = products
            .iter()
            .map(|recorded| recorded.product.clone())
            .enumerate()
            .collect();
        let task = KernelTask {
            device: facts.kind,
            index: facts.index,
            kernel,
            products,
        };
        Self {
            task,
            crashes: BTreeMap::new(),
            results,
        }
    }

    /// Runs processes until every product has a result.
    fn run(
        mut self,
        process: impl Fn(&KernelTask, &mut dyn FnMut(KernelResult)) -> Result<Ended, String>,
    ) -> Result<(), String> {
        while !self.task.products.is_empty() {
            let before = self.task.products.len();
            let Ended { unfinished, why } =
                process(&self.task.clone(), &mut |found| self.found(found))?;
            // The product that it had started is the one that ended it.
            if let Some(number) = unfinished {
                self.finish(number, KernelOutcome::Crashed, &why);
            }
            if self.task.products.len() == before {
                // It would end in the same way again.
                return Err(format!(
                    "a process for kernels ended before it computed anything: {why}"
                ));
            }
            self.give_up();
        }
        Ok(())
    }

    /// Reports the products of types in which the kernel crashes again and again.
    fn give_up(&mut self) {
        let hopeless = self
            .task
            .products
            .iter()
            .filter(|(_, product)| self.keeps_crashing(product));
        let numbers: Vec<usize> = hopeless.map(|(number, _)| *number).collect();
        for number in numbers {
            let why = format!("the kernel had crashed {MOST_CRASHES} times in this type");
            self.finish(number, KernelOutcome::NotRun, &why);
        }
    }

    fn keeps_crashing(&self, product: &Product) -> bool {
        // By the type in memory, because TF32 is computed by the same kernel with f32 tensors.
        let crashes = self.crashes.get(&product.precision.storage());
        crashes.is_some_and(|count| *count >= MOST_CRASHES)
    }

    /// Reports a product that no process answered for.
    fn finish(&mut self, product: usize, outcome: KernelOutcome, why: &str) {
        self.found(KernelResult {
            kernel: self.task.kernel,
            product,
            outcome,
            headroom: None,
            reason: Some(why.to_owned()),
        });
    }

    fn found(&mut self, found: KernelResult) {
        let products = &mut self.task.products;
        // A second answer for a product is dropped, because it already has a result.
        let Some(place) = products
            .iter()
            .position(|(number, _)| *number == found.product)
        else {
            return;
        };
        let (_, product) = products.remove(place);
        if found.outcome == KernelOutcome::Crashed {
            *self.crashes.entry(product.precision.storage()).or_default() += 1;
        }
        // The receiver is gone when a result could not be written; its error is reported.
        drop(self.results.send(Ok(found)));
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BTreeMap, Ended, KernelOutcome, KernelResult, KernelTask, Precision, Product, Remaining,
        channel,
    };
    use testgen_gpu::Factor;
    use testgen_types::DeviceKind;

    /// The outcomes of ten products, five of each type, with processes that end as `process` says.
    fn outcomes(
        process: impl Fn(&KernelTask, &mut dyn FnMut(KernelResult)) -> Result<Ended, String>,
    ) -> Vec<KernelOutcome> {
        let factor = || Factor::contiguous(vec![1, 1]);
        let product = |precision| Product {
            left: factor(),
            right: factor(),
            precision,
        };
        let precisions = [Precision::F32, Precision::F16]
            .into_iter()
            .flat_map(|precision| [precision; 5]);
        let products = precisions.map(product).enumerate().collect();
        let task = KernelTask {
            device: DeviceKind::Rocm,
            index: 0,
            kernel: 7,
            products,
        };
        let (results, received) = channel();
        let remaining = Remaining {
            task,
            crashes: BTreeMap::new(),
            results: &results,
        };
        let ended = remaining.run(process);
        drop(results);
        let mut found: Vec<KernelResult> = received.into_iter().filter_map(Result::ok).collect();
        found.sort_by_key(|found| found.product);
        assert_eq!(ended.is_ok(), found.len() == 10);
        found.into_iter().map(|found| found.outcome).collect()
    }

    fn correct(product: usize) -> KernelResult {
        KernelResult {
            kernel: 7,
            product,
            outcome: KernelOutcome::Correct,
            headroom: None,
            reason: None,
        }
    }

    #[test]
    fn a_kernel_that_ends_its_process_loses_one_result() {
        use KernelOutcome::{Correct, Crashed};
        // Ends at product 2.
        let found = outcomes(|task, found| {
            for (number, _) in &task.products {
                if *number == 2 {
                    return Ok(Ended {
                        unfinished: Some(2),
                        why: "signal 11".to_owned(),
                    });
                }
                found(correct(*number));
            }
            Ok(Ended {
                unfinished: None,
                why: "exit status 0".to_owned(),
            })
        });
        assert_eq!(found[..4], [Correct, Correct, Crashed, Correct]);
        assert_eq!(found[4..], [Correct; 6]);
    }

    #[test]
    fn three_crashes_in_a_type_are_enough() {
        use KernelOutcome::{Correct, Crashed, NotRun};
        let found = outcomes(|task, found| {
            let (number, product) = &task.products[0];
            if product.precision == Precision::F32 {
                return Ok(Ended {
                    unfinished: Some(*number),
                    why: String::new(),
                });
            }
            found(correct(*number));
            Ok(Ended {
                unfinished: None,
                why: String::new(),
            })
        });
        assert_eq!(
            found,
            [
                Crashed, Crashed, Crashed, NotRun, NotRun, Correct, Correct, Correct, Correct,
                Correct
            ]
        );
    }

    #[test]
    fn a_process_that_computes_nothing_is_an_error() {
        assert!(
            outcomes(|_, _| Ok(Ended {
                unfinished: None,
                why: String::new()
            }))
            .is_empty()
        );
        assert!(outcomes(|_, _| Err("it does not start".to_owned())).is_empty());
    }
}

//! The runs of a stress case: into memory that holds NaN, again after other work, and on two
//! streams at once.

use super::{StressCase, comparison::StressComparison, digest::Digests};
use crate::{
    calls::{Attributes, Call, CallError, Execute, PeriodicCall, PeriodicResult},
    cases::{arithmetic::Arithmetic, evaluate::ErrorEvaluation, group::reference, sizes::cases},
};
use std::{sync::Barrier, thread};
use testgen_types::{DeviceKind, Operator};

/// Streams that compute at once.
const STREAMS: usize = 2;
/// Elements of a result that repeated runs read; of larger results they read some pieces and the
/// last one.
const READ_AGAIN: usize = 1 << 28;

/// How stress cases are run.
pub struct Stress<'s> {
    /// Computes the calls; each thread that calls it has a separate stream.
    pub executor: &'s (dyn Execute + Sync),
    /// The arithmetic of the device.
    pub arithmetic: Arithmetic,
    /// The kind of device that results must be on.
    pub device: DeviceKind,
}

/// The result of a case.
pub struct StressResult {
    /// Every element against the reference.
    pub evaluation: ErrorEvaluation,
    /// Why the case fails, whichever run failed.
    pub failure: Option<String>,
    /// The bits of the first run, for more runs.
    pub bits: ResultDigests,
}

/// The bits of a result.
#[derive(Debug, Clone, Default)]
pub struct ResultDigests(Digests);

impl Stress<'_> {
    /// Computes a case and compares every element; then again after other work, and on `streams` at
    /// once where `twice` holds.
    ///
    /// # Errors
    ///
    /// When the first run does not return a result.
    pub fn run(&self, case: &StressCase, twice: bool) -> Result<StressResult, CallError> {
        let mut comparison =
            StressComparison::new(case.reference(self.arithmetic), &case.call.result);
        let mut digests = Digests::default();
        let result = self.executor.execute_periodic(&case.call, &mut |piece| {
            digests.add(piece);
            comparison.add(piece);
        })?;
        let evaluation = comparison.evaluation();
        let bits = ResultDigests(digests);
        let wrong = evaluation
            .failure
            .as_ref()
            .map(|failure| format!("{failure}{}", self.input_problem(case)));
        // First the shape and the device: elements were compared as if both were right.
        let problem = self.misplaced(case, &result).or(wrong);
        // Further runs are compared with the bits of the first one, which prove nothing if it is
        // wrong.
        let failure = problem.or_else(|| self.after_other_work(case, &bits));
        let failure = failure.or_else(|| {
            if twice {
                self.at_once(case, &bits)
            } else {
                None
            }
        });
        Ok(StressResult {
            evaluation,
            failure,
            bits,
        })
    }

    /// The reason why two runs at once, each on a separate stream, differ in bits from the first
    /// run.
    pub fn at_once(&self, case: &StressCase, bits: &ResultDigests) -> Option<String> {
        // Without it, the first could have its result before the second has launched anything.
        let start = Barrier::new(STREAMS);
        let problems: Vec<Option<String>> = thread::scope(|scope| {
            let streams: Vec<_> = (0..STREAMS)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        self.differs(case, bits)
                    })
                })
                .collect();
            streams
                .into_iter()
                .map(|stream| stream.join().unwrap_or_else(|_| Some("a panic".to_owned())))
                .collect()
        });
        problems
            .into_iter()
            .flatten()
            .next()
            .map(|problem| format!("with two streams at once, {problem}"))
    }

    fn misplaced(&self, case: &StressCase, result: &PeriodicResult) -> Option<String> {
        let expected = case.reference_element(self.arithmetic);
        if result.shape != case.call.result || result.element != expected {
            let (shape, element) = (&result.shape, result.element);
            return Some(format!(
                "the result is {element} {shape:?}, expected {expected} {:?}",
                case.call.result
            ));
        }
        let device = self.device;
        (result.device != device)
            .then(|| format!("the result is on {}, not on {device}", result.device))
    }

    /// Names an input that is wrong on the device; empty where none is.
    fn input_problem(&self, case: &StressCase) -> String {
        let inputs = case
            .call
            .call
            .inputs
            .iter()
            .zip(&case.call.shapes)
            .enumerate();
        // If an input is wrong on the device, the operator is not the cause.
        let problem = inputs
            .filter(|(_, (input, _))| input.tensor.element.is_float())
            .find_map(|(index, (input, shape))| {
                // The identity, which returns its input.
                let call = Call::new(
                    Operator::Dropout,
                    vec![input.tensor.clone()],
                    Attributes::default(),
                );
                let mut comparison =
                    StressComparison::new(reference(&call, self.arithmetic), shape);
                let call = PeriodicCall {
                    call,
                    shapes: vec![shape.clone()],
                    result: shape.clone(),
                    fill: false,
                    every: 1,
                };
                let read = self
                    .executor
                    .execute_periodic(&call, &mut |piece| comparison.add(piece));
                let failure = read.map_or_else(
                    |error| Some(error.to_string()),
                    |_| comparison.evaluation().failure,
                );
                failure.map(|failure| {
                    format!("; input {index} is wrong before the operator runs: {failure}")
                })
            });
        problem.unwrap_or_default()
    }

    fn after_other_work(&self, case: &StressCase, bits: &ResultDigests) -> Option<String> {
        for call in self.other_work() {
            if let Err(error) = self.executor.execute(&call) {
                return Some(error.to_string());
            }
        }
        self.differs(case, bits)
            .map(|problem| format!("after other work, {problem}"))
    }

    /// Calls of other operators with other sizes: their memory and their kernels come between two
    /// runs.
    fn other_work(&self) -> Vec<Call> {
        let element = self.arithmetic.element();
        let work: [(Operator, &[usize]); 4] = [
            (Operator::Matmul, &[129, 257, 65]),
            (Operator::Softmax, &[3, 2049]),
            (Operator::Transpose, &[513, 127]),
            (Operator::Sum, &[7, 4099]),
        ];
        work.iter()
            .flat_map(|(operator, sizes)| cases(*operator, sizes, element))
            .map(|case| case.call)
            .collect()
    }

    /// Why another run has not the same bits.
    fn differs(&self, case: &StressCase, bits: &ResultDigests) -> Option<String> {
        let count: usize = case.call.result.iter().product();
        let call = PeriodicCall {
            // Read in part and not filled with NaN: the memory is to have what other work has left.
            every: (count / READ_AGAIN).max(1),
            fill: false,
            ..case.call.clone()
        };
        let mut digests = Digests::default();
        match self.executor.execute_periodic(&call, &mut |piece| digests.add(piece)) {
            Err(error) => Some(error.to_string()),
            Ok(result) => self.misplaced(case, &result).or_else(|| {
                let first = bits.0.difference(&digests, call.every)?;
                Some(format!("the bits differ from those of the first run, in the piece that begins at element {first}"))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        calls::{Computed, Element, Piece},
        cases::stress::stress_cases,
    };
    use testgen_types::Precision;

    /// Returns so many ones, on this device.
    struct Repeated {
        device: DeviceKind,
        elements: usize,
    }

    impl Execute for Repeated {
        fn execute(&self, call: &Call) -> Result<Computed, CallError> {
            Err(CallError::Unsupported {
                operator: call.operator,
                message: "it repeats only".to_owned(),
            })
        }

        fn execute_periodic(
            &self,
            call: &PeriodicCall,
            read: &mut dyn FnMut(Piece<'_>),
        ) -> Result<PeriodicResult, CallError> {
            if self.elements > 0 {
                read(Piece {
                    first: 0,
                    values: &vec![1.0; self.elements],
                });
            }
            Ok(PeriodicResult {
                shape: call.result.clone(),
                element: Element::F32,
                device: self.device,
            })
        }
    }

    #[test]
    fn a_repetition_returns_all_elements_on_the_same_device() {
        let case = stress_cases(Operator::Contiguous, &[2001, 41], Element::F32).remove(0);
        let all: usize = case.call.result.iter().product();
        let mut bits = ResultDigests::default();
        bits.0.add(Piece {
            first: 0,
            values: &vec![1.0; all],
        });
        let repeated = |device, elements| {
            let executor = Repeated { device, elements };
            let stress = Stress {
                executor: &executor,
                arithmetic: Arithmetic::for_precision(Precision::F32),
                device: DeviceKind::Cpu,
            };
            stress.at_once(&case, &bits).unwrap_or_default()
        };
        assert_eq!(repeated(DeviceKind::Cpu, all), "");
        for elements in [0, all - 1] {
            let failure = repeated(DeviceKind::Cpu, elements);
            assert!(failure.contains("begins at element 0"), "{failure}");
        }
        let failure = repeated(DeviceKind::Cuda, all);
        assert!(
            failure.contains("the result is on cuda, not on cpu"),
            "{failure}"
        );
    }
}

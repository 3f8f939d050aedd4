//! A device with a fault of large sizes, emulated on the host.

use super::faults::{Change, LargeFault, State};
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, ThreadId},
};
use testgen_operators::calls::{
    Call, CallError, Computed, Execute, PeriodicCall, PeriodicResult, Piece,
};

/// The host processor with a fault.
pub(crate) struct Faulty<'a> {
    device: &'a (dyn Execute + Send + Sync),
    fault: &'a LargeFault,
    /// Runs of the case, and calls of other operators.
    runs: AtomicUsize,
    others: AtomicUsize,
    /// The threads that have computed, in the order of their first run.
    threads: Mutex<Vec<ThreadId>>,
}

impl<'a> Faulty<'a> {
    pub(crate) fn new(device: &'a (dyn Execute + Send + Sync), fault: &'a LargeFault) -> Self {
        Self {
            device,
            fault,
            runs: AtomicUsize::default(),
            others: AtomicUsize::default(),
            threads: Mutex::default(),
        }
    }

    fn state(&self, call: &PeriodicCall) -> State {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let own = thread::current().id();
        let stream = threads
            .iter()
            .position(|thread| *thread == own)
            .unwrap_or_else(|| {
                threads.push(own);
                threads.len() - 1
            });
        State {
            run: self.runs.fetch_add(1, SeqCst),
            others: self.others.load(SeqCst),
            stream,
            filled: call.fill,
        }
    }

    /// The whole result as one piece, with the fault.
    fn computed(
        &self,
        call: &PeriodicCall,
        values: &mut Vec<f32>,
    ) -> Result<PeriodicResult, CallError> {
        let mut changed = call.clone();
        let state = self.state(call);
        if let Change::Inputs(change) = &self.fault.change {
            change(&mut changed);
        }
        let mut result = self.device.execute_periodic(&changed, &mut |piece| {
            values.extend_from_slice(piece.values)
        })?;
        match &self.fault.change {
            Change::Values(change) => change(&call.result, values),
            Change::State(change) => change(&state, values),
            Change::Result(change) => change(&mut result, values),
            Change::Sums(select) => {
                // Two parts of the terms, each rounded, and their sum rounded again.
                let [first, second] = [false, true].map(|second| {
                    let (mut part, mut values) = (call.clone(), Vec::new());
                    select(&mut part, second);
                    let result = self.device.execute_periodic(&part, &mut |piece| {
                        values.extend_from_slice(piece.values)
                    });
                    result.map(|_| values)
                });
                *values = first?
                    .into_iter()
                    .zip(second?)
                    .map(|(first, second)| half(first + second))
                    .collect();
            }
            Change::Inputs(_) => {}
        }
        Ok(result)
    }
}

/// The nearest f16.
fn half(value: f32) -> f32 {
    testgen_operators::calls::Element::F16.round(f64::from(value)) as f32
}

impl Execute for Faulty<'_> {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        self.others.fetch_add(1, SeqCst);
        self.device.execute(call)
    }

    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        // The inputs of a case are read by an operator of their own.
        if call.call.operator != self.fault.operator {
            return self.device.execute_periodic(call, read);
        }
        let mut values = Vec::new();
        let result = self.computed(call, &mut values)?;
        read(Piece {
            first: 0,
            values: &values,
        });
        Ok(result)
    }
}

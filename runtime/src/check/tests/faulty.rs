//! A model with a fault in what it does.

use crate::{
    Array, Arrays, DeviceKind, Forward, ForwardError, Session,
    model::{Pooling, Run},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    EverySecondCallOneBitOff,
    RowDependsOnBatch,
    WrongTailAt33,
    WrongRowOfFive,
    FirstSeesLast,
    MaskIgnored,
    OutputOnOtherDevice,
    WrongChunk,
    ResetKeepsCache,
    ResetKeepsSource,
    CacheDrifts,
    LogitsDependOnHistory,
    WrongLastPassage,
}

/// A network with a fault.
pub(super) struct Faulty {
    inner: Box<dyn Run>,
    fault: Fault,
    calls: Arc<AtomicUsize>,
}

impl Faulty {
    pub(super) fn new(inner: Box<dyn Run>, fault: Fault) -> Self {
        Self { inner, fault, calls: Arc::default() }
    }
}

impl Run for Faulty {
    fn causal(&self) -> bool {
        self.inner.causal()
    }

    fn pooling(&self) -> Pooling {
        self.inner.pooling()
    }

    fn run(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        let call = self.calls.fetch_add(1, SeqCst);
        let mut inputs = inputs.clone();
        if self.fault == Fault::MaskIgnored {
            inputs.remove("attention_mask");
        }
        let mut forward = self.inner.run(&inputs, traced)?;
        let [batch, seq] = tokens(&inputs).shape().try_into().unwrap();
        if self.fault == Fault::WrongLastPassage {
            wrong_last_passage(&mut forward);
        }
        let Some(logits) = forward.outputs.get_mut("logits") else { return Ok(forward) };
        match self.fault {
            Fault::EverySecondCallOneBitOff if call % 2 == 1 => {
                change(logits, |values, _| values[0] = values[0].next_up())
            }
            Fault::RowDependsOnBatch => change(logits, |values, _| values[0] += 1e-2 * batch as f32),
            Fault::WrongTailAt33 if seq == 33 => change(logits, |values, width| values[32 * width] += 1.0),
            Fault::WrongRowOfFive if batch == 5 => change(logits, |values, width| values[seq * width] += 1.0),
            Fault::FirstSeesLast => change(logits, |values, width| values[0] += 1e-6 * values[(seq - 1) * width]),
            Fault::OutputOnOtherDevice => forward.placements.iter_mut().for_each(|(_, placement)| {
                placement.device = DeviceKind::Cuda;
            }),
            _ => {}
        }
        Ok(forward)
    }

    fn session(&self) -> Option<Box<dyn Session + '_>> {
        let (inner, fault, calls) = (self.inner.session()?, self.fault, Arc::clone(&self.calls));
        Some(Box::new(FaultySession { inner, fault, calls, source: None }))
    }

    fn max_positions(&self) -> Option<usize> {
        self.inner.max_positions()
    }

    fn cacheable_length(&self) -> Option<usize> {
        self.inner.cacheable_length()
    }
}

struct FaultySession<'a> {
    inner: Box<dyn Session + 'a>,
    fault: Fault,
    calls: Arc<AtomicUsize>,
    /// The first that was read.
    source: Option<Array>,
}

impl Session for FaultySession<'_> {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let call = self.calls.fetch_add(1, SeqCst);
        let past = self.inner.length();
        let mut inputs = inputs.clone();
        for name in ["input_ids", "input_features"] {
            if let Some(source) = inputs.get_mut(name).filter(|_| self.fault == Fault::ResetKeepsSource) {
                *source = self.source.get_or_insert_with(|| source.clone()).clone();
            }
        }
        let mut forward = self.inner.advance(&inputs)?;
        let new = tokens(&inputs).shape()[1];
        let logits = forward.outputs.get_mut("logits").unwrap();
        match self.fault {
            Fault::WrongChunk if new > 1 && past > 0 => change(logits, |values, width| values[width] += 1.0),
            Fault::CacheDrifts => change(logits, |values, _| values[0] += 1e-3 * past as f32 - 8e-3),
            Fault::LogitsDependOnHistory => change(logits, |values, width| {
                values.chunks_exact_mut(width).for_each(|row| row[call % width] += 100.0);
            }),
            _ => {}
        }
        Ok(forward)
    }

    fn reset(&mut self) {
        if self.fault != Fault::ResetKeepsCache {
            self.inner.reset();
        }
    }

    fn length(&self) -> usize {
        self.inner.length()
    }
}

/// The last passage found for the first of many questions is another one that was not found.
fn wrong_last_passage(forward: &mut Forward) {
    let ids = forward.decisions.get_mut("retrieved_doc_ids").unwrap();
    let [questions, docs] = ids.shape().try_into().unwrap();
    let mut values = ids.as_integers().unwrap().to_vec();
    if questions > 2 {
        values[docs - 1] = (0..).find(|id| !values[..docs].contains(id)).unwrap();
    }
    *ids = Array::integers([questions, docs], values);
}

/// Those that grow: of a decoder beside an encoder its own.
fn tokens(inputs: &Arrays) -> &Array {
    inputs.get("decoder_input_ids").unwrap_or_else(|| &inputs["input_ids"])
}

/// Changes the elements; `change` is also told the length of the last dimension.
fn change(array: &mut Array, change: impl FnOnce(&mut [f32], usize)) {
    let shape = array.shape().to_vec();
    let mut values = array.as_floats().unwrap().to_vec();
    change(&mut values, shape[shape.len() - 1]);
    *array = Array::floats(shape, values);
}

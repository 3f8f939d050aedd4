//! A model with a fault in what it does.

use super::super::{layer_trace_golden::is_hidden_state, rows};
use crate::{
    Array, Arrays, DeviceKind, Forward, ForwardError, Precision, Session,
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
    // In the numbers.
    OutputOff,
    EmbeddingOff,
    LastLayerOff,
    RouterOff,
    NotANumber,
    HalfPrecisionAsSingle,
    WrongLastPassage,
    OutputOnOtherDevice,
    EverySecondCallOneBitOff,
    RowDependsOnBatch,
    WrongTailAt33,
    WrongRowOfFive,
    FirstSeesLast,
    MaskIgnored,
    // In a sequence that grows.
    WrongChunk,
    ResetKeepsCache,
    ResetKeepsSource,
    CacheDrifts,
    LogitsDependOnHistory,
    // In the harness.
    FallbackNotMarked,
    FieldHardCoded,
    HalfPrecisionRefused,
    ModelKept,
    OtherCheckpointLoaded,
    // In the files.
    TensorNotRead,
    OtherInputsRecorded,
}

/// A network with a fault.
pub(super) struct Faulty {
    inner: Box<dyn Run>,
    fault: Fault,
    precision: Precision,
    calls: Arc<AtomicUsize>,
}

impl Faulty {
    pub(super) fn new(inner: Box<dyn Run>, fault: Fault, precision: Precision) -> Self {
        Self { inner, fault, precision, calls: Arc::default() }
    }

    fn spoil_all(&self, call: usize, inputs: &Arrays, forward: &mut Forward) {
        let sizes = [rows::count(inputs), tokens(inputs).map_or(1, |tokens| tokens.shape()[1])];
        let last = forward.trace.iter().rposition(|(name, _)| is_hidden_state(name));
        let traced = forward.trace.iter_mut().enumerate();
        let traced = traced.filter(|(place, (name, _))| self.is_in_state(name, Some(*place) == last));
        let outputs = forward.outputs.values_mut().filter(|_| self.is_in_outputs());
        for array in traced.map(|(_, (_, array))| array).chain(outputs) {
            change(array, |values, width| self.spoil(call, sizes, values, width));
        }
    }

    /// Puts the fault into the numbers of one output or hidden state; `batch` and `seq` are those of the call.
    fn spoil(&self, call: usize, [batch, seq]: [usize; 2], values: &mut [f32], width: usize) {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        match self.fault {
            Fault::OutputOff | Fault::EmbeddingOff | Fault::LastLayerOff | Fault::RouterOff => {
                values[0] += 0.01 * largest
            }
            Fault::NotANumber => values[0] = f32::NAN,
            Fault::HalfPrecisionAsSingle if self.precision == Precision::F32 => {
                values.iter_mut().for_each(|value| *value = half::f16::from_f32(*value).to_f32());
            }
            Fault::EverySecondCallOneBitOff if call % 2 == 1 => values[0] = values[0].next_up(),
            Fault::RowDependsOnBatch => values[0] += 1e-2 * batch as f32,
            Fault::WrongTailAt33 if seq == 33 => values[32 * width] += 1.0,
            Fault::WrongRowOfFive if batch == 5 => values[values.len() / 5] += 1.0,
            Fault::FirstSeesLast => values[0] += 1e-5 * values.get((seq - 1) * width).unwrap_or(&0.0),
            _ => {}
        }
    }

    fn is_in_outputs(&self) -> bool {
        !matches!(self.fault, Fault::EmbeddingOff | Fault::LastLayerOff | Fault::RouterOff)
    }

    fn is_in_state(&self, name: &str, last: bool) -> bool {
        match self.fault {
            Fault::EmbeddingOff => name.ends_with("embed"),
            Fault::LastLayerOff => last,
            Fault::RouterOff => name.starts_with("router."),
            Fault::FirstSeesLast => true,
            _ => false,
        }
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
            ignore_mask(&mut inputs);
        }
        let mut forward = self.inner.run(&inputs, traced)?;
        match self.fault {
            Fault::WrongLastPassage => wrong_last_passage(&mut forward),
            Fault::OutputOnOtherDevice => forward.placements.iter_mut().for_each(|(_, placement)| {
                placement.device = DeviceKind::Cuda;
            }),
            _ => {}
        }
        self.spoil_all(call, &inputs, &mut forward);
        Ok(forward)
    }

    fn session(&self) -> Option<Box<dyn Session + '_>> {
        let (inner, fault, calls) = (self.inner.session()?, self.fault, Arc::clone(&self.calls));
        Some(Box::new(FaultySession { inner, fault, calls, source: None }))
    }

    /// A batch of five is wrong in every length: a sweep of the shortest shows it.
    fn max_positions(&self) -> Option<usize> {
        let own = self.inner.max_positions();
        if self.fault == Fault::WrongRowOfFive { Some(own.unwrap_or(33).min(33)) } else { own }
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
        let new = tokens(&inputs).unwrap().shape()[1];
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

/// Padding is read as if it were none: of a text behind a mask of ones, of graphs as nodes of the first kind.
fn ignore_mask(inputs: &mut Arrays) {
    if let Some(mask) = inputs.get_mut("attention_mask") {
        *mask = Array::integers(mask.shape(), vec![1; mask.values().len()]);
    }
    if let Some(nodes) = inputs.get_mut("input_nodes") {
        let kinds = nodes.as_integers().unwrap().iter().map(|kind| (*kind).max(1)).collect();
        *nodes = Array::integers(nodes.shape(), kinds);
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
fn tokens(inputs: &Arrays) -> Option<&Array> {
    inputs.get("decoder_input_ids").or_else(|| inputs.get("input_ids"))
}

/// Changes the elements; `change` is also told the length of the last dimension.
fn change(array: &mut Array, change: impl FnOnce(&mut [f32], usize)) {
    let shape = array.shape().to_vec();
    let Some(values) = array.as_floats().filter(|values| !values.is_empty()) else { return };
    let mut values = values.to_vec();
    change(&mut values, shape.last().copied().unwrap_or(1));
    *array = Array::floats(shape, values);
}

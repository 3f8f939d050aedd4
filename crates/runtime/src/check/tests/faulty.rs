//! A model with a fault in its behaviour.

use super::super::{comparison::hidden_states::is_hidden_state, inputs::rows};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};
use testgen_models::{Capabilities, ErasedModel};
use testgen_nn::{
    array::{Array, Arrays},
    forward::{Forward, ForwardError, Session},
    timing::{CallTimes, TimedCall},
};
use testgen_types::{DeviceKind, Precision, Repetitions};

/// A fault of a model or of its harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum Fault {
    None,
    // In the numbers.
    OutputOff,
    OutputReversed,
    EmbeddingOff,
    LastLayerOff,
    RouterOff,
    NotANumber,
    NotANumberLost,
    HalfPrecisionAsSingle,
    WrongLastPassage,
    OutputOnOtherDevice,
    EverySecondCallOneBitOff,
    RowDependsOnBatch,
    WrongTailAt33,
    WrongRowOfFive,
    StridesIgnored,
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

/// The fault that a check must detect.
#[derive(Debug, Clone, Copy)]
pub(in crate::check) struct Detected {
    pub(super) fault: Fault,
    /// The fault in words, for the table.
    pub(super) description: &'static str,
    /// A part of the reason of the failed check; alternatives are separated by bars.
    pub(super) reason: &'static str,
}

impl Detected {
    /// Of a check that compares implementations: the native engine has one, so the faults are in
    /// `tests/checks/engines/implementations.rs`.
    pub(in crate::check) const ON_ENGINES: Self = Self::new(Fault::None, "", "");

    pub(in crate::check) const fn new(
        fault: Fault,
        description: &'static str,
        reason: &'static str,
    ) -> Self {
        Self {
            fault,
            description,
            reason,
        }
    }
}

/// A network with a fault.
pub(super) struct Faulty {
    inner: Box<dyn ErasedModel>,
    fault: Fault,
    precision: Precision,
    calls: Arc<AtomicUsize>,
}

impl Faulty {
    pub(super) fn new(inner: Box<dyn ErasedModel>, fault: Fault, precision: Precision) -> Self {
        Self {
            inner,
            fault,
            precision,
            calls: Arc::default(),
        }
    }

    fn spoil_all(&self, call: usize, inputs: &Arrays, forward: &mut Forward) {
        let seq = grown_tokens(inputs).map_or(1, |tokens| tokens.shape()[1]);
        let call = Call {
            number: call,
            batch: rows::count(inputs),
            seq,
        };
        let last = forward
            .trace
            .iter()
            .rposition(|(name, _)| is_hidden_state(name));
        let traced = forward.trace.iter_mut().enumerate();
        let traced =
            traced.filter(|(index, (name, _))| self.is_in_state(name, Some(*index) == last));
        let outputs = forward
            .outputs
            .values_mut()
            .filter(|_| self.is_in_outputs());
        for array in traced.map(|(_, (_, array))| array).chain(outputs) {
            change(array, |values, width| self.spoil(call, values, width));
        }
    }

    /// Puts the fault into one output or hidden state; `width` is the length of its last dimension.
    fn spoil(&self, call: Call, values: &mut [f32], width: usize) {
        let Call { number, batch, seq } = call;
        let largest = values
            .iter()
            .fold(0.0_f32, |largest, value| largest.max(value.abs()));
        match self.fault {
            Fault::OutputOff | Fault::EmbeddingOff | Fault::LastLayerOff | Fault::RouterOff => {
                values[0] += 0.01 * largest
            }
            // A row of one number is the same in both orders.
            Fault::OutputReversed if width == 1 => {
                values.iter_mut().for_each(|value| *value = -*value)
            }
            Fault::OutputReversed => values
                .chunks_exact_mut(width.max(1))
                .for_each(<[f32]>::reverse),
            Fault::NotANumber => values[0] = f32::NAN,
            Fault::HalfPrecisionAsSingle if self.precision == Precision::F32 => {
                values
                    .iter_mut()
                    .for_each(|value| *value = half::f16::from_f32(*value).to_f32());
            }
            Fault::EverySecondCallOneBitOff if number % 2 == 1 => values[0] = values[0].next_up(),
            Fault::RowDependsOnBatch => values[0] += 1e-2 * batch as f32,
            Fault::WrongTailAt33 if seq == 33 => values[32 * width] += 1.0,
            Fault::WrongRowOfFive if batch == 5 => values[values.len() / 5] += 1.0,
            Fault::FirstSeesLast => {
                values[0] += 1e-5 * values.get((seq - 1) * width).unwrap_or(&0.0)
            }
            _ => {}
        }
    }

    fn is_in_outputs(&self) -> bool {
        !matches!(
            self.fault,
            Fault::EmbeddingOff | Fault::LastLayerOff | Fault::RouterOff
        )
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

/// One call of the model.
#[derive(Clone, Copy)]
struct Call {
    number: usize,
    batch: usize,
    seq: usize,
}

impl ErasedModel for Faulty {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        let call = self.calls.fetch_add(1, SeqCst);
        let mut inputs = inputs.clone();
        if self.fault == Fault::MaskIgnored {
            ignore_mask(&mut inputs);
        }
        let mut forward = self.inner.forward(&inputs, traced)?;
        match self.fault {
            Fault::WrongLastPassage => wrong_last_passage(&mut forward),
            Fault::OutputOnOtherDevice => {
                forward.placements.iter_mut().for_each(|(_, placement)| {
                    placement.device = DeviceKind::Cuda;
                })
            }
            _ => {}
        }
        self.spoil_all(call, &inputs, &mut forward);
        Ok(forward)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        let Some(inner) = self.inner.session()? else {
            return Ok(None);
        };
        let (fault, calls) = (self.fault, Arc::clone(&self.calls));
        Ok(Some(Box::new(FaultySession {
            inner,
            fault,
            calls,
            source: None,
        })))
    }

    /// The fault does not change what is timed.
    fn time(
        &self,
        call: TimedCall<'_>,
        repetitions: Repetitions,
    ) -> Result<CallTimes, ForwardError> {
        self.inner.time(call, repetitions)
    }

    /// Shortens the sweep: a batch of five is wrong in every length.
    fn capabilities(&self) -> Capabilities {
        let mut own = self.inner.capabilities();
        if self.fault == Fault::WrongRowOfFive {
            own.max_positions = Some(own.max_positions.unwrap_or(33).min(33));
        }
        own
    }
}

struct FaultySession<'a> {
    inner: Box<dyn Session + 'a>,
    fault: Fault,
    calls: Arc<AtomicUsize>,
    /// The first source that was read.
    source: Option<Array>,
}

impl Session for FaultySession<'_> {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let call = self.calls.fetch_add(1, SeqCst);
        let past = self.inner.length();
        let mut inputs = inputs.clone();
        for name in ["input_ids", "input_features"] {
            if let Some(source) = inputs
                .get_mut(name)
                .filter(|_| self.fault == Fault::ResetKeepsSource)
            {
                *source = self.source.get_or_insert_with(|| source.clone()).clone();
            }
        }
        let mut forward = self.inner.advance(&inputs)?;
        let new = grown_tokens(&inputs).unwrap().shape()[1];
        let logits = forward.outputs.get_mut("logits").unwrap();
        match self.fault {
            Fault::WrongChunk if new > 1 && past > 0 => {
                change(logits, |values, width| values[width] += 1.0)
            }
            Fault::OutputReversed => {
                change(logits, |values, width| {
                    values.chunks_exact_mut(width).for_each(<[f32]>::reverse)
                });
            }
            Fault::CacheDrifts => {
                change(logits, |values, _| values[0] += 1e-3 * past as f32 - 8e-3)
            }
            Fault::LogitsDependOnHistory => change(logits, |values, width| {
                values
                    .chunks_exact_mut(width)
                    .for_each(|row| row[call % width] += 100.0);
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

/// Makes padding real: the mask of a text becomes all ones, padding of graphs becomes nodes of the
/// first kind.
fn ignore_mask(inputs: &mut Arrays) {
    if let Some(mask) = inputs.get_mut("attention_mask") {
        *mask = Array::integers(mask.shape(), vec![1; mask.values().len()]);
    }
    if let Some(nodes) = inputs.get_mut("input_nodes") {
        let kinds = nodes
            .as_integers()
            .unwrap()
            .iter()
            .map(|kind| (*kind).max(1))
            .collect();
        *nodes = Array::integers(nodes.shape(), kinds);
    }
}

/// Replaces the last passage of the first question by one that was not retrieved. Leaves short
/// batches alone: those are the recorded ones, and the fault is to be detected by generated
/// questions.
fn wrong_last_passage(forward: &mut Forward) {
    let ids = forward.host_outputs.get_mut("retrieved_doc_ids").unwrap();
    let [questions, docs] = ids.shape().try_into().unwrap();
    let mut values = ids.as_integers().unwrap().to_vec();
    if questions > 2 {
        values[docs - 1] = (0..).find(|id| !values[..docs].contains(id)).unwrap();
    }
    *ids = Array::integers([questions, docs], values);
}

/// The token ids that generation appends to.
fn grown_tokens(inputs: &Arrays) -> Option<&Array> {
    inputs
        .get("decoder_input_ids")
        .or_else(|| inputs.get("input_ids"))
}

/// Changes the elements; the second argument of `change` is the length of the last dimension.
fn change(array: &mut Array, change: impl FnOnce(&mut [f32], usize)) {
    let shape = array.shape().to_vec();
    let Some(values) = array.as_floats().filter(|values| !values.is_empty()) else {
        return;
    };
    let mut values = values.to_vec();
    change(&mut values, shape.last().copied().unwrap_or(1));
    *array = Array::floats(shape, values);
}

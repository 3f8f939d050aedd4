//! Subjects whose results agree with their reference, for work that a wrong one must not do: being
//! timed.

#[cfg(feature = "operators")]
pub(crate) use super::operators::Agreement;
#[cfg(feature = "operators")]
use super::operators::compare_each;
use super::{
    inputs::{rows, sequences::Sequences, text_facts::TextFacts},
    output_golden,
    run::{self, CheckContext, CheckOutcome, CheckResult, CheckRun},
};
#[cfg(feature = "operators")]
use crate::subject::OperatorSet;
use crate::{golden::Golden, harness::Harness, open::OpenDevice, subject::LoadedSubject};
use std::time::{Duration, Instant};
use testgen_models::Model;
use testgen_nn::array::Arrays;
#[cfg(feature = "operators")]
use testgen_operators::cases::Case;
use testgen_types::Registration;

/// A loaded model whose outputs agree with the golden, in its precision.
pub(crate) struct CorrectModel<'a> {
    /// The model.
    pub(crate) model: &'a Model,
    /// Its device.
    pub(crate) device: Option<&'a OpenDevice>,
    /// The time of its load.
    pub(crate) load: Duration,
    /// The time of its first forward call, until the outputs were on the host.
    pub(crate) first_call: Duration,
    golden: &'a Golden,
    streams: Vec<TextFacts<'a>>,
}

/// Runs `work` with the model of a harness, loaded as a check loads it, if its outputs agree with
/// the golden as `output_golden` requires. The status says whether they do.
pub(crate) fn with_correct_model(
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
    work: impl FnOnce(&CorrectModel<'_>),
) -> CheckOutcome {
    run::execute(|run| check(run, work), registration, harness, context)
}

fn check(run: &mut CheckRun<'_>, work: impl FnOnce(&CorrectModel<'_>)) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let start = Instant::now();
    // Before the comparison, which calls it again: a first call may compile kernels.
    tested.model().forward(&golden.main().inputs)?;
    let first_call = start.elapsed();
    output_golden::compare(run, &tested, &golden)?;
    let LoadedSubject::Model { load_time, .. } = tested.loaded() else {
        return Ok(None);
    };
    // An output that cannot be decided is not one that agrees.
    if run.undecided.is_empty() {
        work(&CorrectModel {
            model: tested.model(),
            device: tested.endpoint().open_device(),
            load: *load_time,
            first_call,
            golden: &golden,
            streams: run.streams(&tested, &golden),
        });
    }
    Ok(None)
}

impl CorrectModel<'_> {
    /// The largest number of tokens of an input; `None` for a model whose recorded inputs are not
    /// rows of token ids alone.
    pub(crate) fn longest(&self) -> Option<usize> {
        let main = self.golden.main();
        // The size of other inputs is fixed.
        let of_tokens = main
            .inputs
            .values()
            .all(|array| array.as_integers().is_some())
            && self
                .streams
                .iter()
                .all(|facts| Sequences::of_case(main, facts.stream).is_some());
        // The shortest of the sequences, because all of them get the same length.
        let longest = self.streams.iter().map(|facts| facts.longest).min();
        longest.filter(|_| of_tokens)
    }

    /// Inputs of a forward call: `batch` rows of generated ids, each sequence with `tokens`;
    /// without `tokens` the recorded rows, repeated.
    pub(crate) fn inputs(&self, batch: usize, tokens: Option<usize>) -> Arrays {
        self.rows(batch, tokens, tokens)
    }

    /// Inputs of the first step of a sequence: a prompt with `tokens`, for an encoder-decoder a
    /// source and the first token of the decoder.
    pub(crate) fn prompt(&self, batch: usize, tokens: Option<usize>) -> Arrays {
        let writes = self.model.capabilities().token_input_name == "decoder_input_ids";
        // A decoder is timed from its first token on, as `generate` starts it.
        self.rows(batch, tokens, if writes { Some(1) } else { tokens })
    }

    /// Rows of `source` tokens, and for the decoder of an encoder-decoder rows of `target` tokens.
    fn rows(&self, batch: usize, source: Option<usize>, target: Option<usize>) -> Arrays {
        let recorded = &self.golden.main().inputs;
        let mut inputs = rows::of_inputs(recorded, &(0..batch).collect::<Vec<_>>());
        if source.is_some() {
            // What depends on the length, as token types, is computed by the model.
            inputs.clear();
        }
        for facts in &self.streams {
            let of_decoder = facts.stream.ids() == "decoder_input_ids";
            if let Some(length) = if of_decoder { target } else { source } {
                let rows = Sequences::generated(batch, length, *facts).unpadded(*facts);
                let own = [facts.stream.ids(), facts.stream.mask()];
                inputs.extend(
                    rows.into_iter()
                        .filter(|(name, _)| own.contains(&name.as_str())),
                );
            }
        }
        inputs
    }
}

/// A case of an operator, and its result compared with the reference.
#[cfg(feature = "operators")]
pub(crate) struct CheckedCase<'a> {
    /// The operators that computed it.
    pub(crate) operators: &'a OperatorSet,
    /// The case.
    pub(crate) case: &'a Case,
    /// Whether its result is within its bounds.
    pub(crate) agreement: Agreement,
}

/// Runs `visit` with every case of the operators of a harness on the shapes of its spec, computed
/// and compared as in `forward`.
#[cfg(feature = "operators")]
pub(crate) fn with_checked_cases(
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
    mut visit: impl FnMut(CheckedCase<'_>),
) -> CheckOutcome {
    run::execute(
        |run| {
            compare_each(run, |operators, case, agreement| {
                visit(CheckedCase {
                    operators,
                    case,
                    agreement,
                })
            })
        },
        registration,
        harness,
        context,
    )
}

//! `mask_golden`: values at masked positions have no influence on other positions, and outputs at
//! real positions equal the recorded ones.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::{
        graph_padding,
        outputs_by_position::{PositionAxes, forward_by_position, pairs},
    },
    inputs::{
        padding::at_real_positions,
        sequences::{Sequences, another},
        text_facts::{PaddedSide, TextFacts},
    },
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::{
    compare::compare,
    golden::{Golden, RecordedCase},
};
use testgen_nn::{
    array::{Array, Arrays},
    forward::ForwardError,
};
use testgen_types::Architecture;

/// Columns of padding added to the longest row.
const PADDING: usize = 5;

/// One of the sequences that a model reads.
#[derive(Clone, Copy)]
struct Masked<'a> {
    tested: &'a SubjectUnderTest,
    golden: &'a Golden,
    facts: TextFacts<'a>,
}

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::MaskIgnored,
    "the mask is ignored",
    "at real positions|at masked positions|nodes",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    if run.spec().architecture == Architecture::Graph {
        return graph_padding::mask_golden(run);
    }
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    for facts in run.streams(&tested, &golden) {
        let masked = Masked {
            tested: &tested,
            golden: &golden,
            facts,
        };
        if let Err(abort) = masked.check(run, &mut failures) {
            return Err(failures.before(abort));
        }
    }
    failures.conclude()?;
    Ok(None)
}

impl Masked<'_> {
    fn check(&self, run: &mut CheckRun<'_>, failures: &mut Failures) -> Result<(), Abort> {
        let Self { golden, facts, .. } = self;
        Abort::skip_if(facts.too_short_for(PADDING + 1))?;
        // Recorded cases first, because they have a reference; the padded rows below have only
        // themselves.
        for case in golden
            .cases
            .iter()
            .filter(|case| self.is_masked(&case.inputs))
        {
            self.compare_recorded(run, case, failures)?;
            self.change_masked(run, &case.inputs, failures)?;
        }
        let Some(padded) = self.padded_case() else {
            let (ids, mask) = (facts.stream.ids(), facts.stream.mask());
            return Err(Abort::Fail(format!(
                "the golden has no `{ids}` and `{mask}`, both [batch, seq]"
            )));
        };
        if !self.mask_matters(run, &padded)? {
            let suffix = facts.stream.suffix();
            failures.push(format!(
                "other ids at masked positions{suffix} have no influence even without the mask, so this check proves nothing"
            ));
        }
        self.change_masked(run, &padded, failures)?;
        Ok(())
    }

    fn is_masked(&self, inputs: &Arrays) -> bool {
        let stream = self.facts.stream;
        let (Some(ids), Some(mask)) = (inputs.get(stream.ids()), inputs.get(stream.mask())) else {
            return false;
        };
        ids.shape() == mask.shape() && mask.as_integers().is_some_and(|mask| mask.contains(&0))
    }

    /// Recorded rows with padding.
    fn padded_case(&self) -> Option<Arrays> {
        let Self { golden, facts, .. } = self;
        // The main case can be recorded without a mask.
        let with_mask = golden
            .cases
            .iter()
            .find(|case| case.inputs.contains_key(facts.stream.mask()));
        let rows = Sequences::of_case(with_mask.unwrap_or(golden.main()), facts.stream)?;
        // Cut, so that the padded rows still fit the positions of the model.
        let rows = rows.prefix(facts.longest - PADDING);
        // A causal model never reads what follows a token, so padding on the right could not show
        // an ignored mask.
        let side = if facts.causal {
            PaddedSide::Left
        } else {
            PaddedSide::Right
        };
        Some(rows.padded(rows.longest() + PADDING, side, *facts))
    }

    fn compare_recorded(
        &self,
        run: &mut CheckRun<'_>,
        case: &RecordedCase,
        failures: &mut Failures,
    ) -> Result<(), ForwardError> {
        let Self {
            tested,
            golden,
            facts,
        } = self;
        let forward = tested.model().forward(&case.inputs)?;
        let mask = &case.inputs[facts.stream.mask()];
        let tolerance = run.tolerance(golden, tested);
        let positions = PositionAxes {
            stream: facts.stream,
            shape: mask.shape(),
            head: tested.model().head(),
        };
        for (name, expected) in case.outputs.iter().filter(|(name, expected)| {
            positions.has(name, expected.shape()) && expected.keeps(mask.shape())
        }) {
            let got = forward.outputs.get(name);
            let Some(compared) = got.and_then(|got| expected.beside(got)) else {
                failures.push(format!(
                    "`{}` was not computed in its recorded shape",
                    case.qualified(name)
                ));
                continue;
            };
            let [expected, got] = compared.map(|array| at_real_positions(&array, mask));
            let label = format!("{} at real positions", case.qualified(name));
            let failure = run.compare(&label, &expected, &got, tolerance.golden(name));
            // Recorded here, so that the reference's own result is compared with this failure.
            run.evidence.differs_from_golden |= failure.is_some();
            failures.extend(failure);
        }
        Ok(())
    }

    /// Compares `inputs` with the same inputs after replacing the ids at masked positions.
    fn change_masked(
        &self,
        run: &mut CheckRun<'_>,
        inputs: &Arrays,
        failures: &mut Failures,
    ) -> Result<(), Abort> {
        let Self {
            tested,
            golden,
            facts,
        } = self;
        let tolerance = run.tolerance(golden, tested);
        let mask = &inputs[facts.stream.mask()];
        let before = forward_by_position(run, tested, facts.stream, inputs)?;
        let after =
            forward_by_position(run, tested, facts.stream, &self.with_masked_changed(inputs))?;
        let label = |name: &str| {
            format!(
                "{name} with other ids at masked positions{}",
                facts.stream.suffix()
            )
        };
        for (name, expected, got) in pairs(&before.positions, &after.positions)? {
            let (expected, got) = (
                at_real_positions(expected, mask),
                at_real_positions(got, mask),
            );
            failures.extend(run.compare_made(
                &label(name),
                &expected,
                &got,
                tolerance.metamorphic(name),
            ));
        }
        // A pooled output may depend on masked positions in transformers, too.
        let pooled = pairs(&before.pooled, &after.pooled)?;
        for (name, expected, got) in pooled.filter(|_| facts.pooled_ignores_masked_ids()) {
            failures.extend(run.compare_made(
                &label(name),
                expected,
                got,
                tolerance.metamorphic(name),
            ));
        }
        Ok(())
    }

    /// Whether the replaced ids change the output if the mask is all ones.
    fn mask_matters(&self, run: &mut CheckRun<'_>, inputs: &Arrays) -> Result<bool, Abort> {
        let Self {
            tested,
            golden,
            facts,
        } = self;
        let mask = &inputs[facts.stream.mask()];
        // In both runs, so that only the ids differ: a mask alone may change positions.
        let ones = Array::integers(mask.shape(), vec![1; mask.values().len()]);
        let [before, after] =
            [inputs.clone(), self.with_masked_changed(inputs)].map(|mut unmasked| {
                unmasked.insert(facts.stream.mask().to_owned(), ones.clone());
                forward_by_position(run, tested, facts.stream, &unmasked)
            });
        let (before, after) = (before?, after?);
        let tolerance = run.tolerance(golden, tested);
        // Without an effect here the ids have no influence anyway, and the check would pass without
        // a mask.
        let mut positions = pairs(&before.positions, &after.positions)?;
        Ok(positions.any(|(name, one, other)| {
            let (one, other) = (at_real_positions(one, mask), at_real_positions(other, mask));
            compare(name, &one, &other, tolerance.metamorphic(name))
                .failure
                .is_some()
        }))
    }

    fn with_masked_changed(&self, inputs: &Arrays) -> Arrays {
        let mut changed = inputs.clone();
        let stream = self.facts.stream;
        let (ids, mask) = (&inputs[stream.ids()], &inputs[stream.mask()]);
        let (Some(values), Some(mask)) = (ids.as_integers(), mask.as_integers()) else {
            return changed;
        };
        let values = values
            .iter()
            .zip(mask)
            .map(|(id, mask)| {
                if *mask == 0 {
                    another(*id, self.facts)
                } else {
                    *id
                }
            })
            .collect();
        changed.insert(
            stream.ids().to_owned(),
            Array::integers(ids.shape(), values),
        );
        changed
    }
}

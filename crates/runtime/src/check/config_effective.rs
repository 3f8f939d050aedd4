//! `config_effective`: changing a configuration field that the model reads changes the output, or
//! makes the load fail, or changes which tensors of zeros are read.
//!
//! A load that fails shows an effect only if it fails because of the change: at the end the unchanged
//! configuration must load again and have its first outputs, and an engine that stops is an error.
//! A field with several plausible changes has an effect when one of them has. Fields that rightly
//! have none in this configuration are the model's to name, with the reason; the report lists them.
//! On an engine that is a process the fields and the changes are the ones that have an effect in
//! transformers, if the golden records them.

mod change;
mod unchanged;

use super::run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::golden::Golden;
use change::{ConfigChange, ConfigPath, changes};
use serde_json::Value;
use std::collections::BTreeMap;
use testgen_models::FieldsRead;
use testgen_nn::array::{Array, Arrays};
use testgen_types::Architecture;
use unchanged::UnchangedModel;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::FieldHardCoded,
    "one field is hard-coded",
    "has no effect: tried",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let config = tested.model().config().clone();
    let Tries { tries, inert } = Tries::for_engine(run, &golden, &tested)?;
    // Without a field the check would pass without trying anything.
    if tries.is_empty() {
        return Err(Abort::Fail(
            "the model reads no field of the configuration".to_owned(),
        ));
    }
    let calls = calls(run.spec().architecture, &golden, &config);
    let unchanged = UnchangedModel::new(run, &tested, &golden, calls)?;
    // Every changed configuration loads the model again; two copies need not fit into the device's
    // memory.
    drop(tested);
    let mut failures = Failures::default();
    let mut effective = 0;
    for (place, changes) in tries {
        match first_effect(run, &unchanged, changes) {
            Ok(()) => effective += 1,
            Err(tried) => failures.push(format!("`{place}` {tried}")),
        }
    }
    // A changed configuration that does not load is a mock, and the expected result.
    run.forget_mocks();
    failures.extend(unchanged.differences(run)?);
    failures.conclude()?;
    let inert = list_inert(&inert);
    Ok(Some(format!("{effective} fields have an effect{inert}")))
}

/// The end of the summary: the fields that rightly have no effect, each with the reason.
fn list_inert(inert: &[(&'static str, &'static str)]) -> String {
    let inert: Vec<String> = inert
        .iter()
        .map(|(field, why)| format!("`{field}`: {why}"))
        .collect();
    if inert.is_empty() {
        String::new()
    } else {
        format!("; rightly without: {}", inert.join(", "))
    }
}

/// Whether one of the changes of a field has an effect; otherwise what was tried.
fn first_effect(
    run: &mut CheckRun<'_>,
    unchanged: &UnchangedModel,
    changes: Vec<ConfigChange>,
) -> Result<(), String> {
    let mut tried = Vec::new();
    for ConfigChange {
        config,
        description,
    } in changes
    {
        let changed = run.checkpoint().with_config(config);
        let endpoint = run.endpoint(Some(&changed), run.registration.precision);
        // Before the engine is asked: the effect is what stops it.
        let has_effect = unchanged.is_affected(&endpoint);
        // An engine that stops fails whatever the configuration says.
        if run.engine.has_stopped() {
            return Err(format!(
                "was not tried: the engine stopped at {description}"
            ));
        }
        if has_effect {
            return Ok(());
        }
        tried.push(description);
    }
    Err(format!("has no effect: tried {}", tried.join(", ")))
}

/// The fields to change, each with the changes to try, and the fields that rightly have no effect.
struct Tries {
    tries: Vec<(ConfigPath, Vec<ConfigChange>)>,
    inert: Vec<(&'static str, &'static str)>,
}

impl Tries {
    /// The fields that have an effect in transformers on an engine that is a process, else the
    /// fields that the model reads.
    fn for_engine(
        run: &CheckRun<'_>,
        golden: &Golden,
        tested: &SubjectUnderTest,
    ) -> Result<Self, Abort> {
        let config = tested.model().config();
        let recorded = golden
            .config_effects
            .as_ref()
            // The native engine knows the fields that it reads; a process does not report them.
            .filter(|_| run.engine.process_name().is_some());
        match (recorded, tested.model().fields()) {
            (Some(recorded), _) => Self::recorded(config, recorded),
            (None, Some(fields)) => Ok(Self::new(config, fields)),
            (None, None) => Err(Abort::Skip(
                "the golden does not record the fields that have an effect".to_owned(),
            )),
        }
    }

    fn new(config: &Value, FieldsRead { read, inert }: &FieldsRead) -> Self {
        let places = change::places(config, read)
            .into_iter()
            .filter(|place| !inert.iter().any(|(field, _)| place.is_within(field)));
        let tries = places
            .map(|place| (place.clone(), changes(config, &place)))
            .collect();
        Self {
            tries,
            inert: inert.clone(),
        }
    }

    fn recorded(config: &Value, recorded: &BTreeMap<String, Value>) -> Result<Self, Abort> {
        Ok(Self {
            tries: recorded
                .iter()
                .map(|(name, value)| {
                    change::recorded(config, name, value).ok_or_else(|| {
                Abort::Fail(format!(
                    "config.json has no `{name}`, whose effect the golden records; record it again"
                ))
            })
                })
                .collect::<Result<_, _>>()?,
            inert: Vec::new(),
        })
    }
}

/// The inputs of every recorded case, and where passages are found a call with labels and without a
/// mask: only there some fields have an effect.
fn calls(architecture: Architecture, golden: &Golden, config: &Value) -> Vec<Arrays> {
    let recorded = golden
        .cases
        .iter()
        .map(|case| case.inputs.clone())
        .collect();
    let target = golden
        .target
        .get("decoder_input_ids")
        .filter(|_| architecture == Architecture::Rag);
    let (Some(target), Some(ids)) = (target, golden.source.get("input_ids")) else {
        return recorded;
    };
    // `get_nll` of transformers' RAG reads `exclude_bos_score` only if the second label of every
    // row starts a text. 0 is the default of `BartConfig`.
    let bos = config
        .pointer("/generator/bos_token_id")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    let mut labels = target.as_integers().unwrap_or_default().to_vec();
    labels
        .chunks_mut(target.shape()[1])
        .filter(|row| row.len() > 1)
        .for_each(|row| row[1] = bos);
    let labels = Array::integers(target.shape(), labels);
    let made = Arrays::from([
        ("input_ids".to_owned(), ids.clone()),
        ("labels".to_owned(), labels),
    ]);
    recorded.into_iter().chain([made]).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{super::tests::OnHost, *};
    use serde_json::json;
    use std::cell::Cell;
    use testgen_models::{Capabilities, ErasedModel};
    use testgen_nn::forward::{Forward, ForwardError, Session};

    #[test]
    fn the_report_counts_the_fields_with_an_effect() {
        let (tried, summary) = OnHost::for_architecture(Architecture::EncoderOnly).run(|run| {
            let tested = run.subject_under_test().unwrap();
            let config = tested.model().config().clone();
            let FieldsRead { read, inert } = tested.model().fields().cloned().unwrap();
            let is_tried =
                |place: &change::ConfigPath| !inert.iter().any(|(field, _)| place.is_within(field));
            let tried = change::places(&config, &read)
                .into_iter()
                .filter(is_tried)
                .count();
            (tried, check(run).unwrap().unwrap())
        });
        assert!(
            tried > 5 && summary.starts_with(&format!("{tried} fields have an effect")),
            "{tried}: {summary}"
        );
    }

    #[test]
    fn labels_of_passages_start_a_text_where_they_have_a_second_column() {
        let of_columns = |columns: usize| {
            let mut golden = OnHost::for_architecture(Architecture::Rag)
                .run(|run| run.golden())
                .unwrap();
            golden.cases.truncate(1);
            let target = Array::integers([2, columns], vec![7; 2 * columns]);
            golden.target.insert("decoder_input_ids".to_owned(), target);
            calls(
                Architecture::Rag,
                &golden,
                &json!({"generator": {"bos_token_id": 4}}),
            )
        };
        let labels = |columns: usize| {
            of_columns(columns)[1]["labels"]
                .as_integers()
                .map(<[i64]>::to_vec)
        };
        assert_eq!(labels(3), Some(vec![7, 4, 7, 7, 4, 7]));
        assert_eq!(labels(2), Some(vec![7, 4, 7, 4]));
        assert_eq!(labels(1), Some(vec![7, 7]));
    }

    thread_local! {
        static LOADS: Cell<usize> = const { Cell::new(0) };
    }

    /// A network whose calls fail.
    struct FailingNetwork(Box<dyn ErasedModel>);

    impl ErasedModel for FailingNetwork {
        fn forward(&self, _: &Arrays, _: bool) -> Result<Forward, ForwardError> {
            Err(ForwardError::NotEncoded)
        }

        fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
            self.0.session()
        }

        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }
    }

    /// As on a device that is lost: every changed configuration fails, and so does the unchanged.
    #[test]
    fn failures_of_the_unchanged_configuration_show_no_effect() {
        LOADS.set(0);
        let found = OnHost::for_architecture(Architecture::EncoderOnly)
            .with_network(|network| {
                LOADS.set(LOADS.get() + 1);
                match LOADS.get() {
                    1 => network,
                    _ => Box::new(FailingNetwork(network)),
                }
            })
            .run(check);
        assert!(
            matches!(&found, Err(Abort::Fail(reason)) if reason.contains("the unchanged configuration fails after the changed ones")),
            "{found:?}"
        );
    }
}

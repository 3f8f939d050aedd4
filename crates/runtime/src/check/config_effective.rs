//! `config_effective`: changing a configuration field that the model reads changes the output, or
//! makes the load fail, or changes which tensors of zeros are read.
//!
//! A field with several plausible changes has an effect when one of them has. Fields that rightly
//! have none in this configuration are the model's to name, with the reason; the report lists them.
//! On an engine that is a process the fields and the changes are the ones that have an effect in
//! transformers, if the golden records them.

mod change;

use super::run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    compare::compare,
    endpoint::{Endpoint, Status},
    golden::Golden,
    tolerance::Threshold,
};
use change::{ConfigChange, ConfigPath, changes};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use testgen_models::FieldsRead;
use testgen_nn::{
    array::{Array, Arrays},
    weights::is_zero,
};
use testgen_types::{Architecture, DeviceKind};

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
    let recorded = golden
        .config_effects
        .as_ref()
        // The native engine knows the fields that it reads; a process does not report them.
        .filter(|_| run.engine.process_name().is_some());
    let Tries { tries, inert } = match (recorded, tested.model().fields()) {
        (Some(recorded), _) => Tries::recorded(&config, recorded)?,
        (None, Some(fields)) => Tries::new(&config, fields),
        (None, None) => {
            return Err(Abort::Skip(
                "the golden does not record the fields that have an effect".to_owned(),
            ));
        }
    };
    if tries.is_empty() {
        return Err(Abort::Fail(
            "the model reads no field of the configuration".to_owned(),
        ));
    }
    let calls = calls(run.spec().architecture, &golden, &config);
    let plain = UnchangedModel {
        directory: run.checkpoint().complete_directory()?,
        tensors: tested.model().tensors().read.clone(),
        outputs: outputs(&tested, &calls)?,
    };
    let allowed = Allowed::new(run, &tested, &golden, &plain.outputs);
    // Every changed configuration loads the model again; two copies need not fit into the device's
    // memory.
    drop(tested);
    let mut failures = Failures::default();
    let mut effective = 0;
    for (place, changes) in tries {
        let mut tried = Vec::new();
        let mut works = false;
        for ConfigChange {
            config,
            description,
        } in changes
        {
            let changed = run.checkpoint().with_config(config);
            let endpoint = run.endpoint(Some(&changed), run.registration.precision);
            works = has_effect(&endpoint, &calls, &plain, &allowed);
            tried.push(description);
            if works {
                break;
            }
        }
        if works {
            effective += 1;
        } else {
            failures.push(format!(
                "`{place}` has no effect: tried {}",
                tried.join(", ")
            ));
        }
    }
    // A changed configuration that does not load is a mock, and the expected result.
    run.forget_mocks();
    failures.conclude()?;
    let inert: Vec<String> = inert
        .iter()
        .map(|(field, why)| format!("`{field}`: {why}"))
        .collect();
    let inert = if inert.is_empty() {
        String::new()
    } else {
        format!("; rightly without: {}", inert.join(", "))
    };
    Ok(Some(format!("{effective} fields have an effect{inert}")))
}

/// The fields to change, each with the changes to try, and the fields that rightly have no effect.
struct Tries {
    tries: Vec<(ConfigPath, Vec<ConfigChange>)>,
    inert: Vec<(&'static str, &'static str)>,
}

impl Tries {
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

/// The outputs of every call.
fn outputs(
    tested: &SubjectUnderTest,
    calls: &[Arrays],
) -> Result<Vec<Arrays>, testgen_nn::forward::ForwardError> {
    calls
        .iter()
        .map(|inputs| Ok(tested.model().forward(inputs)?.outputs))
        .collect()
}

/// How far off two runs of one configuration may be: not at all on the host, where runs repeat bit
/// for bit.
struct Allowed(Vec<(String, Threshold)>);

impl Allowed {
    fn new(
        run: &CheckRun<'_>,
        tested: &SubjectUnderTest,
        golden: &Golden,
        plain: &[Arrays],
    ) -> Self {
        let tolerance = run.tolerance(golden, tested);
        let exact = run.registration.device == DeviceKind::Cpu;
        let threshold = |name: &str| match exact {
            true => Threshold {
                rel_l2: 0.0,
                max_rel: 0.0,
            },
            false => tolerance.metamorphic(name),
        };
        let names: BTreeSet<&String> = plain.iter().flat_map(Arrays::keys).collect();
        Self(
            names
                .into_iter()
                .map(|name| (name.clone(), threshold(name)))
                .collect(),
        )
    }
}

/// The model with its own configuration.
struct UnchangedModel {
    directory: PathBuf,
    /// The tensors that it reads, by name.
    tensors: Vec<String>,
    /// The outputs of every call.
    outputs: Vec<Arrays>,
}

/// Whether the load or a call fails, an output differs, or other tensors are read that are zero.
fn has_effect(
    endpoint: &Endpoint,
    calls: &[Arrays],
    plain: &UnchangedModel,
    allowed: &Allowed,
) -> bool {
    // A load that fails has read the field. A fallback has no model either, and shows nothing.
    let Some(model) = endpoint.model() else {
        return matches!(endpoint.status(), Status::Mock { .. });
    };
    let differs =
        calls
            .iter()
            .zip(&plain.outputs)
            .any(|(inputs, plain)| match model.forward(inputs) {
                // A call that fails has read the field.
                Err(_) => true,
                Ok(forward) => allowed.0.iter().any(|(name, threshold)| {
                    match (plain.get(name), forward.outputs.get(name)) {
                        (Some(one), Some(other)) => {
                            compare(name, one, other, *threshold).failure.is_some()
                        }
                        (one, other) => one.is_some() != other.is_some(),
                    }
                }),
            });
    differs || differ_in_zeros(&plain.directory, &plain.tensors, &model.tensors().read)
}

/// Whether the tensors that only one of two models reads are all zero. A field like `qkv_bias`
/// changes nothing else in a freshly initialised checkpoint; with other values, a tensor that is
/// read and does not change the output is a fault.
fn differ_in_zeros(directory: &Path, one: &[String], other: &[String]) -> bool {
    let [one, other]: [BTreeSet<&String>; 2] = [one, other].map(|names| names.iter().collect());
    let mut names = one.symmetric_difference(&other).peekable();
    names.peek().is_some() && names.all(|name| is_zero(directory, name).unwrap_or(false))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{super::tests::OnHost, *};
    use safetensors::{Dtype, serialize_to_file, tensor::TensorView};
    use serde_json::json;

    #[test]
    fn only_zeros_may_be_read_without_an_effect() {
        let directory = tempfile::tempdir().unwrap();
        let tensor = |value: f32| value.to_le_bytes().repeat(2);
        let data = [
            ("plain", tensor(1.0)),
            ("zero", tensor(0.0)),
            ("trained", tensor(0.5)),
        ];
        let views = data
            .iter()
            .map(|(name, bytes)| (*name, TensorView::new(Dtype::F32, vec![2], bytes).unwrap()));
        serialize_to_file(views, None, &directory.path().join("model.safetensors")).unwrap();
        let differ = |other: &[&str]| {
            let names = |names: &[&str]| {
                names
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect::<Vec<_>>()
            };
            differ_in_zeros(directory.path(), &names(&["plain"]), &names(other))
        };
        assert!(differ(&["plain", "zero"]));
        assert!(
            !differ(&["plain", "trained"]),
            "it is read and changes nothing"
        );
        assert!(!differ(&["plain", "zero", "trained"]));
        assert!(!differ(&["plain"]), "no tensor differs");
        assert!(!differ(&["plain", "absent"]));
    }
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
}

//! Plausible other values for a place in a configuration.

use serde_json::{Map, Value, json};
use std::fmt;

/// A place in a configuration: a field, or a field of an object in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigPath(Vec<String>);

/// A configuration with one place changed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConfigChange {
    pub(super) config: Value,
    /// The present value and the new one, for the report.
    pub(super) description: String,
}

/// Closed sets of words: another word of the same set is another valid value.
const WORDS: [&[&str]; 3] = [
    &[
        "gelu",
        "relu",
        "silu",
        "tanh",
        "gelu_new",
        "gelu_pytorch_tanh",
        "swish",
        "quick_gelu",
        "sigmoid",
    ],
    &["basic", "bottleneck"],
    &["full_attention", "sliding_attention"],
];

impl ConfigPath {
    /// A place by its dotted name.
    fn new(name: &str) -> Self {
        Self(name.split('.').map(str::to_owned).collect())
    }

    /// Whether it is `field` (dotted for a place in an object) or in it.
    pub(super) fn is_within(&self, field: &str) -> bool {
        let own = self.to_string();
        own == field
            || own
                .strip_prefix(field)
                .is_some_and(|rest| rest.starts_with('.'))
    }
}

impl fmt::Display for ConfigPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// The places to change: every field (`outer.inner` in a nested configuration), and for an object
/// of settings each of its entries, at any depth. An object of names (labels) is one place.
pub(super) fn places(config: &Value, fields: &[String]) -> Vec<ConfigPath> {
    fields
        .iter()
        .flat_map(|field| {
            let ConfigPath(path) = ConfigPath::new(field);
            places_below(config.pointer(&format!("/{}", path.join("/"))), path)
        })
        .collect()
}

fn places_below(value: Option<&Value>, path: Vec<String>) -> Vec<ConfigPath> {
    match value {
        Some(Value::Object(entries)) if is_settings(entries) => entries
            .iter()
            .flat_map(|(entry, value)| {
                places_below(
                    Some(value),
                    [&path[..], std::slice::from_ref(entry)].concat(),
                )
            })
            .collect(),
        _ => vec![ConfigPath(path)],
    }
}

fn is_settings(entries: &Map<String, Value>) -> bool {
    // Objects of labels are not settings: `id2label` has numbers as keys, `label2id` as values.
    entries.keys().any(|key| key.parse::<i64>().is_err()) && !entries.values().all(Value::is_i64)
}

/// The configuration with the recorded value at a place, or `None` if the configuration does not
/// have the place.
pub(super) fn recorded(
    config: &Value,
    name: &str,
    value: &Value,
) -> Option<(ConfigPath, Vec<ConfigChange>)> {
    let place = ConfigPath::new(name);
    config.pointer(&format!("/{}", place.0.join("/")))?;
    let change = ConfigChange {
        description: short(value),
        config: replaced(config, &place.0, value.clone()),
    };
    Some((place, vec![change]))
}

/// The configurations to try, in this order.
pub(super) fn changes(config: &Value, place: &ConfigPath) -> Vec<ConfigChange> {
    let pointer = format!("/{}", place.0.join("/"));
    let current = config.pointer(&pointer).cloned().unwrap_or(Value::Null);
    let name = place.0.last().map_or("", String::as_str);
    let values = others(name, &current);
    values
        .into_iter()
        .map(|value| ConfigChange {
            description: short(&value),
            config: replaced(config, &place.0, value),
        })
        .collect()
}

fn replaced(config: &Value, path: &[String], value: Value) -> Value {
    let mut config = config.clone();
    let mut target = &mut config;
    for key in path {
        target = &mut target[key.as_str()];
    }
    *target = value;
    config
}

fn others(name: &str, current: &Value) -> Vec<Value> {
    match current {
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) => numbers(number),
        Value::String(text) => words(text),
        Value::Array(items) => lists(name, items),
        Value::Object(entries) => vec![without_last(entries)],
        Value::Null => absent(name),
    }
}

/// Integers one up, or halved where one is not enough; floats half as much again, or 0.1 where that
/// would not show.
fn numbers(number: &serde_json::Number) -> Vec<Value> {
    match number.as_i64() {
        Some(integer) => [
            integer + 1,
            integer / 2,
            integer * 2 + 1,
            // A change of scale, for fields whose value is rounded, such as YaRN's.
            integer.saturating_mul(64),
        ]
        .map(Value::from)
        .to_vec(),
        None => {
            let float = number.as_f64().unwrap_or(0.0);
            if float.abs() < 1e-2 {
                vec![json!(0.1)]
            } else {
                [1.5, 4.0, 1.0 / 64.0]
                    .map(|scale| json!(float * scale))
                    .to_vec()
            }
        }
    }
}

/// Another word of the same set; of an unknown set a word that must be refused.
fn words(text: &str) -> Vec<Value> {
    match WORDS.iter().find(|set| set.contains(&text)) {
        Some(set) => set
            .iter()
            .filter(|word| **word != text)
            .map(|word| json!(word))
            .collect(),
        None => vec![json!(format!("{text}_of_no_kind"))],
    }
}

/// Each element changed in turn, to every other value.
fn lists(name: &str, items: &[Value]) -> Vec<Value> {
    let mut lists: Vec<Value> = (0..items.len())
        .flat_map(|index| {
            others(name, &items[index]).into_iter().map(move |other| {
                let mut items = items.to_vec();
                items[index] = other;
                Value::Array(items)
            })
        })
        .collect();
    // An empty list has no element to change, so it gets one.
    if lists.is_empty() {
        lists.push(json!([1]));
    }
    lists
}

fn without_last(entries: &Map<String, Value>) -> Value {
    // An object that is one place has labels, and one label fewer narrows the head.
    let kept = entries.len().saturating_sub(1);
    Value::Object(
        entries
            .iter()
            .take(kept)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// A value where there is none.
fn absent(name: &str) -> Vec<Value> {
    match name {
        // A number is refused because of its type, which would show that the field is parsed, but
        // not that it has an effect.
        "rope_scaling" => vec![json!({"rope_type": "linear", "type": "linear", "factor": 3.0})],
        _ => vec![json!(1), json!(2)],
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 80 {
        format!("{}...", text.chars().take(80).collect::<String>())
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(config: Value, field: &str) -> Vec<Value> {
        let places = places(&config, &[field.to_owned()]);
        places
            .iter()
            .flat_map(|place| changes(&config, place))
            .map(|change| change.config[field].clone())
            .collect()
    }

    #[test]
    fn every_type_has_other_values() {
        assert_eq!(
            tried(json!({"n": 4}), "n"),
            [json!(5), json!(2), json!(9), json!(256)]
        );
        assert_eq!(tried(json!({"eps": 1e-12}), "eps"), [json!(0.1)]);
        assert_eq!(
            tried(json!({"eps": 0.01}), "eps")[0],
            json!(0.01 * 1.5),
            "large enough to show"
        );
        assert_eq!(
            tried(json!({"theta": 10000.0}), "theta"),
            [json!(15000.0), json!(40000.0), json!(156.25)]
        );
        assert_eq!(tried(json!({"tied": true}), "tied"), [json!(false)]);
        assert_eq!(tried(json!({"act": "gelu"}), "act")[0], json!("relu"));
        assert_eq!(
            tried(json!({"kind": "odd"}), "kind"),
            [json!("odd_of_no_kind")]
        );
        assert_eq!(
            tried(json!({"depths": [2, 3]}), "depths"),
            [
                [3, 3],
                [1, 3],
                [5, 3],
                [128, 3],
                [2, 4],
                [2, 1],
                [2, 7],
                [2, 192]
            ]
            .map(|list| json!(list))
        );
        assert_eq!(tried(json!({"head_dim": null}), "head_dim")[0], json!(1));
    }

    #[test]
    fn no_value_is_its_own_change() {
        for value in [
            json!(0),
            json!(1),
            json!(-1),
            json!(0.0),
            json!(0.1),
            json!("relu"),
            json!([0]),
            json!([]),
        ] {
            assert!(
                others("x", &value).iter().any(|other| *other != value),
                "{value}"
            );
        }
    }

    #[test]
    fn a_report_shows_the_first_eighty_characters_of_a_value() {
        let nines = |length: usize| "9".repeat(length);
        assert_eq!(short(&json!("gelu")), "\"gelu\"");
        assert_eq!(
            short(&json!(nines(78))),
            format!("\"{}\"", nines(78)),
            "80 characters with the quotes"
        );
        assert_eq!(short(&json!(nines(79))), format!("\"{}...", nines(79)));
    }

    #[test]
    fn settings_are_changed_one_by_one_and_labels_lose_one() {
        let config = json!({"rope_parameters": {"factor": 8.0, "rope_type": "llama3"}});
        let found = places(&config, &["rope_parameters".to_owned()]);
        assert_eq!(
            found.iter().map(ConfigPath::to_string).collect::<Vec<_>>(),
            ["rope_parameters.factor", "rope_parameters.rope_type"]
        );
        assert!(
            found[0].is_within("rope_parameters") && found[0].is_within("rope_parameters.factor")
        );
        assert!(
            !found[0].is_within("rope_param") && !found[0].is_within("rope_parameters.rope_type")
        );
        assert_eq!(
            tried(json!({"id2label": {"0": "a", "1": "b"}}), "id2label"),
            [json!({"0": "a"})]
        );
        assert_eq!(
            tried(json!({"label2id": {"a": 0, "b": 1}}), "label2id"),
            [json!({"a": 0})]
        );
    }
}

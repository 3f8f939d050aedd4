//! Numbers of `config.json` that are not finite: an object in place of the number, as transformers
//! 5 writes them.

use serde_json::Value;

/// The fields that hold one, as `outer.inner`, and its name; for the message that asks for a finite
/// number.
pub(super) fn not_finite(value: &Value) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

fn collect<'a>(value: &'a Value, path: &str, found: &mut Vec<(String, &'a str)>) {
    if let Some(name) = value.get("__float__").and_then(Value::as_str) {
        return found.push((path.to_owned(), name));
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(
                    value,
                    &if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    },
                    found,
                );
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, path, found)),
        _ => {}
    }
}

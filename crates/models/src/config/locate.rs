//! Finds the fields of a file that a parser rejects.
//!
//! Serde loses the path of an error inside a flattened struct, and most configurations flatten the
//! fields that types share. So each field is tried by itself, with the defaults for all others.

use super::not_finite::not_finite;
use serde_json::{Map, Value};
use testgen_types::excerpt;

/// How deep the path of an error goes.
// A field of a nested configuration may hold an object, too.
const DEPTH: usize = 3;

/// How many fields a message names.
const REPORTED: usize = 10;

/// The error of a file with these fields alone, or `None` if it can be read.
type Try<'a> = &'a dyn Fn(&Map<String, Value>) -> Option<String>;

/// `path: message` of every field that is rejected by itself, or `None` if no single field is the
/// cause.
pub(super) fn locate(file: &Map<String, Value>, error: Try<'_>) -> Option<String> {
    if error(&Map::new()).is_some() {
        return None; // not even the defaults can be read, so every field would be reported
    }
    let found: Vec<String> = damaged(file, error, DEPTH)
        .iter()
        .take(REPORTED)
        .map(|(path, message)| describe(file, path, message))
        .collect();
    (!found.is_empty()).then(|| found.join("; "))
}

fn damaged(fields: &Map<String, Value>, error: Try<'_>, depth: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, value) in fields {
        let alone = |value: Value| Map::from_iter([(name.clone(), value)]);
        let Some(message) = error(&alone(value.clone())) else {
            continue;
        };
        let within = |inner: &Map<String, Value>| error(&alone(Value::Object(inner.clone())));
        let inner = match value {
            // Where even an empty object is rejected, the object itself is the error, and not each
            // of its fields.
            Value::Object(inner) if depth > 1 && within(&Map::new()).is_none() => {
                damaged(inner, &within, depth - 1)
            }
            _ => Vec::new(),
        };
        if inner.is_empty() {
            found.push((name.clone(), message));
        } else {
            found.extend(
                inner
                    .into_iter()
                    .map(|(path, message)| (format!("{name}.{path}"), message)),
            );
        }
    }
    found
}

/// An infinite number is an object in the files of transformers, and the parser's message does not
/// say that.
fn describe(file: &Map<String, Value>, path: &str, message: &str) -> String {
    let file = Value::Object(file.clone());
    let infinite = not_finite(&file)
        .into_iter()
        .find(|(field, _)| field == path);
    match infinite {
        Some((_, name)) => format!("{}: is {}, not finite", excerpt(path), excerpt(name)),
        None => format!("{}: {message}", excerpt(path)),
    }
}

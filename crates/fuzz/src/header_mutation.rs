//! Mutations of the header of a safetensors file that keep it a header: tensors are removed,
//! renamed and copied, types, shapes and metadata change.

use crate::mutation::Random;
use serde_json::{Map, Value, json};

const METADATA: &str = "__metadata__";
const TYPES: [&str; 10] = [
    "F64", "F32", "F16", "BF16", "I64", "I32", "I8", "U8", "BOOL", "U16",
];
// The largest exceeds every file, and two of them as a product exceed 64 bits.
const SIZES: [u64; 6] = [0, 1, 2, 3, 7, 1 << 40];
/// Parts of names, between dots.
const PARTS: [&str; 5] = ["0", "1", "18446744073709551615", "-1", "x"];

/// One to three changes.
pub(crate) fn mutate_header(header: &mut Map<String, Value>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        // In each step again: the step before may have removed or renamed any of them.
        let names: Vec<String> = header
            .keys()
            .filter(|name| *name != METADATA)
            .cloned()
            .collect();
        if names.is_empty() {
            return;
        }
        let name = random.choose(&names).clone();
        match random.below(7) {
            0 => drop(header.remove(&name)),
            1 | 2 => {
                let tensor = header.remove(&name).unwrap_or_default();
                header.insert(mixed(&name, &names, random), tensor);
            }
            3 => {
                let tensor = header[&name].clone();
                header.insert(mixed(&name, &names, random), tensor);
            }
            4 => set(header, &name, "dtype", json!(random.choose(&TYPES))),
            5 => {
                let mut shape = header[&name]
                    .get("shape")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                change_shape(&mut shape, random);
                set(header, &name, "shape", shape.into());
            }
            _ => change_metadata(header.entry(METADATA).or_insert_with(|| json!({})), random),
        }
    }
}

fn set(header: &mut Map<String, Value>, name: &str, field: &str, value: Value) {
    if let Some(tensor) = header.get_mut(name).and_then(Value::as_object_mut) {
        tensor.insert(field.to_owned(), value);
    }
}

/// The name with one of its parts replaced by a part of another name.
fn mixed(name: &str, names: &[String], random: &mut Random) -> String {
    let mut parts: Vec<&str> = name.split('.').collect();
    let other: Vec<&str> = random.choose(names).split('.').collect();
    let part = if random.below(2) == 0 {
        *random.choose(&other)
    } else {
        *random.choose(&PARTS)
    };
    let at = random.below(parts.len());
    parts[at] = part;
    parts.join(".")
}

fn change_shape(shape: &mut Vec<Value>, random: &mut Random) {
    let size = json!(random.choose(&SIZES));
    match random.below(3) {
        0 => drop(shape.pop()),
        1 => shape.push(size),
        _ => {
            let at = random.below(shape.len());
            if let Some(old) = shape.get_mut(at) {
                *old = size;
            }
        }
    }
}

/// Removes an entry, or replaces its value by another entry's value or a new one.
fn change_metadata(metadata: &mut Value, random: &mut Random) {
    let Some(metadata) = metadata.as_object_mut() else {
        return;
    };
    let keys: Vec<String> = metadata.keys().cloned().collect();
    if keys.is_empty() {
        return;
    }
    let key = random.choose(&keys);
    let other = metadata[random.choose(&keys)].clone();
    match random.below(4) {
        0 => drop(metadata.remove(key)),
        1 => drop(metadata.insert(key.clone(), other)),
        2 => drop(metadata.insert(key.clone(), random.text(20).into())),
        _ => {
            let text = other
                .as_str()
                .unwrap_or_default()
                .replace(random.choose(&["0", "e-", "[", "\"", ","]), "9");
            metadata.insert(key.clone(), text.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{METADATA, mutate_header};
    use crate::mutation::Random;
    use serde_json::{Map, Value, json};
    use std::collections::BTreeSet;

    #[test]
    fn every_part_of_a_header_changes() {
        let tensor = json!({ "dtype": "F32", "shape": [2], "data_offsets": [0, 8] });
        let header = json!({ METADATA: { "a": "[1]" }, "input.x": tensor, "output.y": tensor });
        let header: Map<String, Value> = header.as_object().expect("an object").clone();
        let mut seen = BTreeSet::new();
        for seed in 0..300 {
            let mut changed = header.clone();
            mutate_header(&mut changed, &mut Random::new(seed));
            seen.insert(if changed.len() == 3 {
                "as many"
            } else {
                "more or fewer"
            });
            seen.extend(changed.contains_key("input.y").then_some("a mixed name"));
            seen.extend((changed[METADATA] != header[METADATA]).then_some("metadata"));
            for tensor in ["input.x", "output.y"]
                .iter()
                .filter_map(|name| changed.get(*name))
            {
                seen.extend((tensor["dtype"] != "F32").then_some("a type"));
                seen.extend((tensor["shape"] != json!([2])).then_some("a shape"));
            }
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
        mutate_header(&mut Map::new(), &mut Random::new(1));
    }
}

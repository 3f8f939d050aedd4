//! The JSON Schema of specs, for editors and other tools.

use super::ModelSpec;
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value};
use testgen_base::closed_enum::ClosedEnum;
use testgen_types::{
    Architecture, Check, DeviceKind, ModelType, Operator, OperatorGroup, Precision,
    QuantizationScheme, SubjectKind, Task,
};

/// The schema as JSON text, ended by a newline. The same types produce the same bytes.
pub fn schema() -> String {
    let mut schema = SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<ModelSpec>();
    if let Some(Value::Object(checkpoint)) = schema.pointer_mut("/definitions/CheckpointSource") {
        close_places(checkpoint);
    }
    close_subjects(&mut schema);
    format!("{:#}\n", schema.as_value())
}

/// Requires exactly one place of a checkpoint.
fn close_places(checkpoint: &mut Map<String, Value>) {
    let Some(Value::Array(mut places)) = checkpoint.remove("oneOf") else {
        return;
    };
    // All keys are in one list, because "no other keys" concerns only the list beside it.
    for place in places.iter_mut().filter_map(Value::as_object_mut) {
        let description = place.remove("description");
        let Some(Value::Object(mut keys)) = place.remove("properties") else {
            continue;
        };
        for key in keys.values_mut().filter_map(Value::as_object_mut) {
            key.extend(
                description
                    .clone()
                    .map(|text| ("description".to_owned(), text)),
            );
        }
        // The keys move up, and `oneOf` keeps only which of them are required.
        if let Some(Value::Object(all)) = checkpoint.get_mut("properties") {
            all.append(&mut keys);
        }
        place.retain(|key, _| key == "required");
    }
    checkpoint.insert("additionalProperties".to_owned(), false.into());
    checkpoint.insert("oneOf".to_owned(), places.into());
}

/// Requires exactly one kind of subject: its keys, no key of another kind, and one of its
/// architectures.
fn close_subjects(schema: &mut Schema) {
    let shared: Vec<String> = properties(schema.as_value())
        .map(|(key, _)| key.clone())
        .collect();
    let Some(Value::Array(mut subjects)) = schema.remove("anyOf") else {
        return;
    };
    for (kind, subject) in SubjectKind::ALL.iter().zip(&mut subjects) {
        let architectures = Architecture::ALL
            .iter()
            .filter(|architecture| architecture.subject() == *kind);
        let architectures: Vec<&str> = architectures
            .map(|architecture| architecture.as_str())
            .collect();
        // It knows only the keys listed beside it, so that shared ones are permitted there by name.
        subject["additionalProperties"] = false.into();
        shared
            .iter()
            .for_each(|key| subject["properties"][key] = true.into());
        subject["properties"]["architecture"] = serde_json::json!({ "enum": architectures });
    }
    schema.insert("oneOf".to_owned(), subjects.into());
}

/// The properties that this part of the schema describes; it permits others by their name, which
/// another part describes.
pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let all = schema["properties"].as_object().into_iter().flatten();
    all.filter(|(_, property)| property.get("description").is_some())
}

fn variant<T: ClosedEnum>() -> Schema {
    let all: Vec<&str> = T::all().iter().map(|variant| variant.text()).collect();
    json_schema!({ "type": "string", "enum": all })
}

fn variants<T: ClosedEnum>() -> Schema {
    json_schema!({ "type": "array", "items": variant::<T>(), "minItems": 1, "uniqueItems": true })
}

pub(super) fn model_type(_: &mut SchemaGenerator) -> Schema {
    variant::<ModelType>()
}

/// A mapping from operators, or groups of them, to lists of shapes.
pub(super) fn operators(_: &mut SchemaGenerator) -> Schema {
    let names = json_schema!({ "anyOf": [variant::<OperatorGroup>(), variant::<Operator>()] });
    named(names, shapes())
}

/// A mapping from operators to mappings from issues to lists of shapes.
pub(super) fn stress(_: &mut SchemaGenerator) -> Schema {
    let issues = json_schema!({
        "type": "object",
        // The rule of `is_issue` in `subject/stress.rs`: at most 64 characters with the first.
        "propertyNames": { "pattern": "^[A-Za-z0-9][A-Za-z0-9 ._#-]{0,63}$" },
        "minProperties": 1,
        "additionalProperties": shapes()
    });
    named(variant::<Operator>(), issues)
}

fn named(names: Schema, values: Schema) -> Schema {
    json_schema!({ "type": "object", "propertyNames": names, "minProperties": 1, "additionalProperties": values })
}

fn shapes() -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        // The shortest shapes have two sizes, the longest seven (`conv3d`).
        "items": { "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 2, "maxItems": 7 }
    })
}

pub(super) fn architecture(_: &mut SchemaGenerator) -> Schema {
    variant::<Architecture>()
}

pub(super) fn task(_: &mut SchemaGenerator) -> Schema {
    variant::<Task>()
}

pub(super) fn scheme(_: &mut SchemaGenerator) -> Schema {
    variant::<QuantizationScheme>()
}

pub(super) fn check(_: &mut SchemaGenerator) -> Schema {
    variant::<Check>()
}

pub(super) fn device(_: &mut SchemaGenerator) -> Schema {
    variant::<DeviceKind>()
}

pub(super) fn precision(_: &mut SchemaGenerator) -> Schema {
    variant::<Precision>()
}

pub(super) fn devices(_: &mut SchemaGenerator) -> Schema {
    variants::<DeviceKind>()
}

pub(super) fn precisions(_: &mut SchemaGenerator) -> Schema {
    variants::<Precision>()
}

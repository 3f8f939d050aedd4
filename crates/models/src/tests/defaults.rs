//! Every field that a configuration class declares is read, inert, or off; and no struct has
//! defaults of its own.

use crate::{
    config::{ModelConfig, complete, defaults_of, is_inert, is_off},
    definitions::*,
    model_def::ModelDef,
    rag::{GeneratorConfig, QuestionConfig},
    vision_text::{
        clip::{ClipTextConfig, ClipVisionConfig},
        siglip::{SiglipTextConfig, SiglipVisionConfig},
    },
};
use serde_json::Map;
use std::{fs, path::Path};
use testgen_types::for_each_native_type;

/// The fields of a type that nothing accounts for. A struct has no defaults, so this also fails for
/// a field that a struct reads and no class declares.
fn unaccounted<C: ModelConfig>(model_type: &str) -> Vec<String> {
    let completed = complete(model_type, &Map::new()).expect("no field is given twice");
    let config = match serde_json::from_value::<C>(completed) {
        Ok(config) => config,
        Err(error) => return vec![format!("{model_type}: {error}")],
    };
    let inert = |name: &String| is_inert(name) || C::INERT.contains(&name.as_str());
    let defaults = defaults_of(model_type).defaults.iter();
    let unread = defaults.filter(|(name, value)| {
        config.rest().contains_key(*name) && !inert(name) && !is_off(value)
    });
    unread
        .map(|(name, value)| format!("{model_type}.{name} = {value}"))
        .collect()
}

#[test]
fn every_declared_field_is_read_inert_or_off() {
    macro_rules! all_types {
        ($(
            $architecture:ident $feature:literal recorded_by $recorder:literal {
                $($variant:ident $name:literal $file:ident::$definition:ident $class:literal $heads:tt $fields:tt)*
            }
        )*) => {
            [$($(unaccounted::<<$file::$definition as ModelDef>::Config>($name),)*)*]
        };
    }
    let mut found = for_each_native_type!(all_types).concat();
    found.extend(unaccounted::<ClipTextConfig>(ClipTextConfig::NESTED_TYPE));
    found.extend(unaccounted::<ClipVisionConfig>(
        ClipVisionConfig::NESTED_TYPE,
    ));
    found.extend(unaccounted::<SiglipTextConfig>(
        SiglipTextConfig::NESTED_TYPE,
    ));
    found.extend(unaccounted::<SiglipVisionConfig>(
        SiglipVisionConfig::NESTED_TYPE,
    ));
    found.extend(unaccounted::<QuestionConfig>(QuestionConfig::NESTED_TYPE));
    found.extend(unaccounted::<GeneratorConfig>(GeneratorConfig::NESTED_TYPE));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_struct_has_defaults_of_its_own() {
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of this crate") {
            let path = entry.expect("an entry of this crate").path();
            let text = if path.is_dir() {
                String::new()
            } else {
                fs::read_to_string(&path).expect("a text")
            };
            // This file names the attribute.
            let names_it = path.ends_with("tests/defaults.rs");
            found.extend((text.contains("serde(default") && !names_it).then(|| path.clone()));
            directories.extend(path.is_dir().then_some(path));
        }
    }
    assert!(
        found.is_empty(),
        "defaults belong to config/defaults.json: {found:#?}"
    );
}

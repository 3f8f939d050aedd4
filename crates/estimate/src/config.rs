//! `config.json`, completed with the defaults of transformers.

use crate::error::EstimateError;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, path::Path, sync::LazyLock};
use testgen_types::{
    ModelType,
    bounded_file::{limit, read_bytes},
    excerpt, from_python,
};

/// The largest number of a field.
// Larger ones would overflow sums of products, and no tensor has so many rows.
const LARGEST: u64 = 0xffff_ffff;

/// The most parts of a computation that an estimate follows one by one.
// Published models have up to 128 (the positional convolution of wav2vec 2.0), and kernels of
// images are squares.
pub(crate) const MOST_PARTS: u64 = 1 << 10;

/// The field that ties the head to the embedding.
pub(crate) const TIED: &str = "tie_word_embeddings";

/// The declarations of the configuration class of a type.
#[derive(Debug, Default, Deserialize)]
struct DeclaredDefaults {
    aliases: BTreeMap<String, String>,
    defaults: Map<String, Value>,
}

/// The file of `testgen-models`, which `python/fixtures/defaults.py` extracts from transformers.
static DEFAULTS: LazyLock<BTreeMap<String, DeclaredDefaults>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("defaults.json")).expect("a script writes the file")
});

/// A configuration with every field that its type declares.
#[derive(Debug)]
pub(crate) struct CompleteConfig {
    fields: Map<String, Value>,
    /// The fields of the file itself.
    file: Map<String, Value>,
}

/// The fields of a `config.json`, and the defaults of its type for the ones that it does not have.
pub fn complete_fields(file: Map<String, Value>) -> Map<String, Value> {
    CompleteConfig::complete(file).fields
}

impl CompleteConfig {
    pub(crate) fn read(directory: &Path) -> Result<Self, EstimateError> {
        let path = directory.join("config.json");
        let bytes = read_bytes(&path, limit::CONFIG)?;
        // Python writes `NaN` and `Infinity`, which are not JSON.
        let value: Value = serde_json::from_slice(&from_python(&bytes)).map_err(|error| {
            invalid(
                &format!("is not JSON: {}", excerpt(&error.to_string())),
                &path,
            )
        })?;
        let Value::Object(file) = value else {
            return Err(invalid("is not a JSON object", &path));
        };
        Ok(Self::complete(file))
    }

    fn complete(file: Map<String, Value>) -> Self {
        let none = DeclaredDefaults::default();
        let DeclaredDefaults { aliases, defaults } =
            DEFAULTS.get(declared_type(&file)).unwrap_or(&none);
        let mut fields = defaults.clone();
        // transformers also reads a field by the names in `attribute_map`.
        for (name, value) in &file {
            fields.insert(aliases.get(name).unwrap_or(name).clone(), value.clone());
        }
        Self { fields, file }
    }

    /// A part with a separate configuration, of `model_type` unless it names another one.
    pub(crate) fn part(&self, name: &str, model_type: &str) -> Self {
        let mut file = self
            .fields
            .get(name)
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        // A part may name another type, which has other defaults.
        file.entry("model_type")
            .or_insert_with(|| model_type.into());
        Self::complete(file)
    }

    pub(crate) fn model_type(&self) -> Result<ModelType, EstimateError> {
        let name = declared_type(&self.file);
        ModelType::find(name).ok_or_else(|| EstimateError::UnknownType(excerpt(name).into_owned()))
    }

    /// The class that saved the checkpoint, the base class if the file names none.
    pub(crate) fn saved_class(&self, model_type: ModelType) -> String {
        let named = self
            .file
            .get("architectures")
            .and_then(|names| names.get(0))
            .or(self.file.get("_class_name"));
        named
            .and_then(Value::as_str)
            .map_or_else(|| model_type.base_class(), str::to_owned)
    }

    /// The number of labels of a classification head, as transformers counts them.
    pub(crate) fn labels(&self) -> u64 {
        let named = self
            .file
            .get("id2label")
            .and_then(Value::as_object)
            .map(|labels| labels.len() as u64);
        named
            .or_else(|| self.file.get("num_labels").and_then(Value::as_u64))
            // The default of `PreTrainedConfig`.
            .unwrap_or(2)
    }

    /// A positive number.
    pub(crate) fn size(&self, field: &str) -> Result<u64, EstimateError> {
        self.size_if_set(field)?
            .ok_or_else(|| self.wrong(field, "a positive number"))
    }

    /// A positive number, or none if the field is null or missing.
    pub(crate) fn size_if_set(&self, field: &str) -> Result<Option<u64>, EstimateError> {
        match self.fields.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(size @ 1..=LARGEST) => Ok(Some(size)),
                _ => Err(self.wrong(field, "a positive number")),
            },
        }
    }

    /// A positive number of parts, each of which is followed, as the places of a kernel.
    pub(crate) fn parts(&self, field: &str) -> Result<u64, EstimateError> {
        self.size(field)
            .and_then(|parts| self.followed(field, parts))
    }

    /// `parts` of a field, unless there are so many that following each takes too long.
    pub(crate) fn followed(&self, field: &str, parts: u64) -> Result<u64, EstimateError> {
        match parts {
            0..=MOST_PARTS => Ok(parts),
            _ => Err(self.wrong(field, "a number up to 1024")),
        }
    }

    /// A number from 1 on, or none.
    pub(crate) fn positive(&self, field: &str) -> Option<u64> {
        self.number(field)
            // Some fields say by 0 or less that there is none.
            .filter(|number| (1.0..=LARGEST as f64).contains(number))
            .map(|number| number as u64)
    }

    /// One number, or the height and width.
    pub(crate) fn sides(&self, field: &str) -> Result<[u64; 2], EstimateError> {
        let sides: Option<Vec<u64>> = match self.fields.get(field) {
            Some(Value::Array(sides)) => sides.iter().map(Value::as_u64).collect(),
            _ => return self.size(field).map(|side| [side; 2]),
        };
        match sides.as_deref() {
            Some(&[height @ 1..=LARGEST, width @ 1..=LARGEST]) => Ok([height, width]),
            _ => Err(self.wrong(field, "one or two positive numbers")),
        }
    }

    /// As [`Self::sides`], of which each row and column is followed.
    pub(crate) fn followed_sides(&self, field: &str) -> Result<[u64; 2], EstimateError> {
        let [height, width] = self.sides(field)?;
        Ok([self.followed(field, height)?, self.followed(field, width)?])
    }

    /// Positive numbers, at least one.
    pub(crate) fn sizes(&self, field: &str) -> Result<Vec<u64>, EstimateError> {
        let expected = "a list of positive numbers";
        let listed = self.fields.get(field).and_then(Value::as_array);
        let sizes: Option<Vec<u64>> = listed.and_then(|sizes| {
            let sizes = sizes.iter().map(Value::as_u64);
            sizes
                .map(|size| size.filter(|size| (1..=LARGEST).contains(size)))
                .collect()
        });
        sizes
            .filter(|sizes| !sizes.is_empty())
            .ok_or_else(|| self.wrong(field, expected))
    }

    /// One positive number for each of `count` parts; a single one is for all of them.
    pub(crate) fn size_of_each(
        &self,
        field: &str,
        count: usize,
    ) -> Result<Vec<u64>, EstimateError> {
        if self.fields.get(field).is_some_and(Value::is_array) {
            let sizes = self.sizes(field)?;
            return match sizes.len() == count {
                true => Ok(sizes),
                false => Err(self.wrong(field, "a number for each part")),
            };
        }
        self.size(field).map(|size| vec![size; count])
    }

    /// The integers of a list, or one.
    pub(crate) fn integers(&self, field: &str) -> Vec<i64> {
        match self.fields.get(field) {
            Some(Value::Array(numbers)) => numbers.iter().filter_map(Value::as_i64).collect(),
            other => other.and_then(Value::as_i64).into_iter().collect(),
        }
    }

    /// The strings of a list.
    pub(crate) fn texts(&self, field: &str) -> Vec<&str> {
        let listed = self.fields.get(field).and_then(Value::as_array);
        listed
            .map(|texts| texts.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }

    /// The fields that are numbers.
    #[cfg(test)]
    pub(crate) fn numbers(&self) -> Vec<String> {
        let numbers = self.fields.iter().filter(|(_, value)| value.is_number());
        numbers.map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn set_flag(&mut self, field: &str, value: bool) {
        self.fields.insert(field.to_owned(), value.into());
    }

    pub(crate) fn flag(&self, field: &str) -> bool {
        self.fields
            .get(field)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    pub(crate) fn number(&self, field: &str) -> Option<f64> {
        self.fields.get(field).and_then(Value::as_f64)
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Whether the field has a value.
    pub(crate) fn is_set(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|value| !value.is_null())
    }

    /// Whether the file has an object of this name.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.file.get(field).is_some_and(Value::is_object)
    }

    /// A number of an object, for instance of `rope_parameters`.
    pub(crate) fn number_in(&self, object: &str, field: &str) -> Option<f64> {
        self.fields.get(object)?.get(field)?.as_f64()
    }

    pub(crate) fn wrong(&self, field: &str, expected: &'static str) -> EstimateError {
        let found = self
            .fields
            .get(field)
            .map_or("missing".to_owned(), |value| {
                format!("`{}`", excerpt(&value.to_string()))
            });
        EstimateError::Field {
            field: field.to_owned(),
            found,
            expected,
        }
    }
}

fn invalid(problem: &str, path: &Path) -> EstimateError {
    EstimateError::Invalid {
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}

/// The type that a configuration names. diffusers' files name a class instead.
fn declared_type(file: &Map<String, Value>) -> &str {
    ["model_type", "_class_name"]
        .into_iter()
        .find_map(|field| file.get(field).and_then(Value::as_str))
        .unwrap_or_default()
}

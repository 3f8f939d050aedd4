//! From `config.json` to the configuration struct of a model definition.

use super::{
    accounting, config_error::ConfigError, config_struct::ModelConfig, defaults::complete,
    locate::locate,
};
use serde_json::{Map, Value};
use testgen_types::excerpt;

/// A configuration and the names of the fields that were read from the file.
#[derive(Debug)]
pub(crate) struct ParsedConfig<C> {
    pub(crate) config: C,
    pub(crate) fields: Vec<String>,
}

/// Reads the fields of `C` and accounts for all others.
pub(crate) fn parse<C: ModelConfig>(
    model_type: &str,
    value: &Value,
) -> Result<ParsedConfig<C>, ConfigError> {
    let file = value.as_object().ok_or_else(|| {
        invalid(
            format!(
                "the file is `{}`, not an object",
                excerpt(&value.to_string())
            ),
            model_type,
        )
    })?;
    let config = read::<C>(model_type, file).map_err(|message| invalid(message, model_type))?;
    accounting::check(model_type, &config, file, "")?;
    config
        .validate()
        .map_err(|message| invalid(message, model_type))?;
    let fields = accounting::read_fields(model_type, &config, file);
    Ok(ParsedConfig { config, fields })
}

fn read<C: ModelConfig>(model_type: &str, file: &Map<String, Value>) -> Result<C, String> {
    let error = match serde_json::from_value(complete(model_type, file)?) {
        Ok(config) => return Ok(config),
        Err(error) => excerpt(&error.to_string()).into_owned(),
    };
    // Only after a failure, because it reads the struct once for each field.
    Err(locate(file, &|fields| {
        let completed = complete(model_type, fields).ok()?;
        serde_json::from_value::<C>(completed)
            .err()
            .map(|error| excerpt(&error.to_string()).into_owned())
    })
    .unwrap_or(error))
}

fn invalid(message: String, model_type: &str) -> ConfigError {
    ConfigError::Invalid {
        model_type: model_type.to_owned(),
        message,
    }
}

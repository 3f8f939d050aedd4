//! Reading `config.json`: strict about every field that could change the numbers.

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {}

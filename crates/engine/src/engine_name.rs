//! The name of an engine with its options, which is part of the name of a column: `torch`,
//! `torch/eager/tf32`.

use std::{fmt, str::FromStr};

/// An engine with its options.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EngineName {
    program: String,
    options: Vec<String>,
}

/// A name that no engine can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is not the name of an engine: {problem}; write native, native/split, native/stream, native/vendor, torch, or a name with options such as torch/eager/tf32"
)]
pub struct EngineNameError {
    name: String,
    problem: &'static str,
}

/// The program of the engine that is part of the suite.
const NATIVE: &str = "native";
/// Its option with which the library of a GPU's vendor multiplies matrices.
const VENDOR: &str = "vendor";
/// Its option with which the layers of models stay in their files.
const STREAM: &str = "stream";
/// Its option with which they are split over all devices of a kind.
const SPLIT: &str = "split";

/// The places of a model's layers, as an option asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerPlaces {
    /// The device.
    OneDevice,
    /// All devices of its kind.
    AllDevices,
    /// Their file.
    File,
}

impl EngineName {
    /// The engine that is part of the suite: burn.
    pub fn native() -> Self {
        Self {
            program: NATIVE.to_owned(),
            options: Vec::new(),
        }
    }

    /// Whether it is the engine that is part of the suite.
    pub fn is_native(&self) -> bool {
        self.program == NATIVE
    }

    /// Whether it is the native engine with the products of the vendor's library.
    pub fn has_vendor_products(&self) -> bool {
        self.is_native() && self.has(VENDOR)
    }

    /// Where the native engine has the layers of a model; other engines take all options
    /// themselves.
    pub fn layers(&self) -> LayerPlaces {
        if self.is_native() && self.has(STREAM) {
            LayerPlaces::File
        } else if self.is_native() && self.has(SPLIT) {
            LayerPlaces::AllDevices
        } else {
            LayerPlaces::OneDevice
        }
    }

    /// The name without options.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The options, sorted.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// Whether the engine was asked to round the factors of f32 products to TF32.
    pub fn tf32(&self) -> bool {
        self.has("tf32")
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|own| own == option)
    }

    /// The name as a report has it, or `None` for the native engine without options, whose entries
    /// have no such field.
    pub fn in_report(&self) -> Option<String> {
        (*self != Self::native()).then(|| self.to_string())
    }
}

impl FromStr for EngineName {
    type Err = EngineNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |problem| EngineNameError {
            // Escaped and cut, because the name comes from a variable and is printed.
            name: text.escape_debug().take(80).collect(),
            problem,
        };
        let mut parts = text.split('/').map(str::to_owned);
        let program = parts.next().unwrap_or_default();
        let mut options: Vec<String> = parts.collect();
        // Sorted, so that one engine has one name.
        options.sort();
        if options.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(error("an option is repeated"));
        }
        for part in options.iter().chain([&program]) {
            // Names are parts of test names and of variables.
            let is_word = part
                .chars()
                .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'));
            if part.is_empty() || part.len() > 40 || !is_word {
                return Err(error(
                    "a part has other characters than a-z, 0-9 and _, or none, or more than 40",
                ));
            }
        }
        let name = Self { program, options };
        let mut options = name.options.iter().map(String::as_str);
        // Options of other engines are theirs to refuse; the native one has no process that could.
        if name.is_native() && !options.all(|option| [SPLIT, STREAM, VENDOR].contains(&option)) {
            return Err(error(
                "the native engine has the options split, stream and vendor",
            ));
        }
        if name.is_native() && name.has(SPLIT) && name.has(STREAM) {
            return Err(error("layers are split or streamed, not both"));
        }
        Ok(name)
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        self.options
            .iter()
            .try_for_each(|option| write!(f, "/{option}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_engine_has_one_name() {
        let name = |text: &str| text.parse::<EngineName>().expect("is a name");
        assert_eq!(name("torch/tf32/eager").to_string(), "torch/eager/tf32");
        assert_eq!(name("torch/tf32/eager"), name("torch/eager/tf32"));
        assert!(name("torch/tf32").tf32() && !name("torch").tf32());
        assert!(name("native").is_native() && name("native").in_report().is_none());
        let vendor = name("native/vendor");
        assert!(vendor.is_native() && vendor.has_vendor_products());
        assert!(
            !name("native").has_vendor_products() && !name("torch/vendor").has_vendor_products()
        );
        assert_eq!(vendor.in_report().as_deref(), Some("native/vendor"));
        let one = LayerPlaces::OneDevice;
        assert!(vendor.layers() == one && name("torch/stream").layers() == one);
        let both = name("native/vendor/stream");
        assert!(both.layers() == LayerPlaces::File && both.has_vendor_products());
        assert_eq!(name("native/split").layers(), LayerPlaces::AllDevices);
        for text in [
            "",
            "torch/",
            "/eager",
            "Torch",
            "torch/eager/eager",
            "native/eager",
            "native/split/stream",
            "a::b",
            "a@b",
            "a b",
        ] {
            assert!(text.parse::<EngineName>().is_err(), "{text}");
        }
    }
}

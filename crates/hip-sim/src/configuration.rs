//! The simulator's configuration, from environment variables: each has a default, and an invalid
//! value is an error.
//!
//! | variable | value |
//! |---|---|
//! | `HIP_SIM_DEVICES` | devices separated by `;`, each an architecture followed by `memory=MIB`, `name=TEXT`, `pci=ADDRESS`, separated by commas |
//! | `HIP_SIM_VERSION` | the HIP version, for instance `6.4.2`; by default 6.4 and a patch number that changes with the simulator, so that caches with the version in their key are not shared between versions of the simulator |
//! | `HIP_SIM_FAULTS` | see [`Faults`] |
//! | `HIP_SIM_CACHE` | the folder of compiled kernels; by default `hip-sim` in `TESTGEN_CACHE`, else in the user's cache |
//! | `HIP_SIM_CXX` | the C++ compiler |
//! | `HIP_SIM_LONGEST` | the maximum size of a kernel's source in bytes; compiling a longer one fails |
//! | `HIP_SIM_DUMP` | a folder that the source of each kernel is written to |
//! | `HIP_SIM_STATISTICS` | a file that a line is appended to when the process ends |

use crate::device_model::{DeviceModel, MIB, pci_numbers};
use crate::fault::{FaultError, Faults};
use crate::{toolchain, visibility};
use std::path::PathBuf;

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The devices, in order.
    pub devices: Vec<DeviceModel>,
    /// Major, minor and patch of the HIP version.
    pub version: [u32; 3],
    /// The injected faults.
    pub faults: Faults,
    /// The folder of compiled kernels.
    pub cache: PathBuf,
    /// The C++ compiler: a program on PATH or a path.
    pub compiler: String,
    /// The maximum size of a kernel's source.
    pub max_source_bytes: Option<usize>,
    /// A folder that the source of each kernel is written to.
    pub dump: Option<PathBuf>,
    /// A file that a line of statistics is appended to when the process ends.
    pub statistics: Option<PathBuf>,
}

/// A variable with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// An architecture that cannot be simulated.
    #[error(
        "HIP_SIM_DEVICES: unknown architecture `{0}`; write gfx1030, gfx1100, gfx90a or gfx942"
    )]
    Architecture(String),
    /// A property of a device.
    #[error(
        "HIP_SIM_DEVICES: unknown property `{0}`; write memory=MIB, name=TEXT or pci=DDDD:BB:DD.F"
    )]
    Property(String),
    /// The version.
    #[error("HIP_SIM_VERSION: invalid version `{0}`; write it like 6.4.2")]
    Version(String),
    /// The maximum size of a source.
    #[error("HIP_SIM_LONGEST: invalid number of bytes `{0}`")]
    MaxSourceBytes(String),
    /// A fault.
    #[error("HIP_SIM_FAULTS: {0}")]
    Fault(#[from] FaultError),
}

impl Configuration {
    /// From the variables that `variable` returns.
    ///
    /// # Errors
    ///
    /// A variable has an invalid value.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigurationError> {
        // An empty value counts as unset, so that a command can do without a variable of the shell.
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let devices = devices(set("HIP_SIM_DEVICES").as_deref().unwrap_or("gfx1100"))?;
        Ok(Self {
            devices: visibility::visible(devices, &variable),
            version: set("HIP_SIM_VERSION")
                .map_or_else(|| Ok(own_version()), |text| version(&text))?,
            faults: set("HIP_SIM_FAULTS").unwrap_or_default().parse()?,
            cache: cache_folder(set),
            compiler: set("HIP_SIM_CXX").unwrap_or_else(|| "c++".to_owned()),
            max_source_bytes: set("HIP_SIM_LONGEST")
                .map(|text| max_source_bytes(&text))
                .transpose()?,
            dump: set("HIP_SIM_DUMP").map(PathBuf::from),
            statistics: set("HIP_SIM_STATISTICS").map(PathBuf::from),
        })
    }

    /// From the environment of this process.
    ///
    /// # Errors
    ///
    /// A variable has an invalid value.
    pub fn from_environment() -> Result<Self, ConfigurationError> {
        Self::read(|name| std::env::var(name).ok())
    }
}

fn devices(text: &str) -> Result<Vec<DeviceModel>, ConfigurationError> {
    text.split(';')
        .map(|device| device_model(device.trim()))
        .collect()
}

fn device_model(text: &str) -> Result<DeviceModel, ConfigurationError> {
    let mut words = text.split(',').map(str::trim);
    let architecture = words.next().unwrap_or_default();
    let architecture = architecture
        .parse()
        .map_err(|()| ConfigurationError::Architecture(architecture.to_owned()))?;
    let mut model = DeviceModel::new(architecture);
    for word in words {
        property(&mut model, word).ok_or_else(|| ConfigurationError::Property(word.to_owned()))?;
    }
    Ok(model)
}

fn property(model: &mut DeviceModel, word: &str) -> Option<()> {
    match word.split_once('=')? {
        ("memory", mib) => {
            model.memory = mib
                .parse::<u64>()
                .ok()
                .filter(|mib| *mib > 0)?
                .checked_mul(MIB)?
        }
        // The structure has room for 256 bytes, the mark and a final zero.
        ("name", name) if !name.is_empty() && name.len() < 200 => model.name = name.to_owned(),
        ("pci", address) => {
            pci_numbers(address)?;
            model.pci_address = address.to_owned();
        }
        _ => return None,
    }
    Some(())
}

fn max_source_bytes(text: &str) -> Result<usize, ConfigurationError> {
    text.parse()
        .map_err(|_| ConfigurationError::MaxSourceBytes(text.to_owned()))
}

fn version(text: &str) -> Result<[u32; 3], ConfigurationError> {
    let invalid = || ConfigurationError::Version(text.to_owned());
    let numbers: Vec<u32> = text
        .split('.')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| invalid())?;
    numbers.try_into().map_err(|_| invalid())
}

/// HIP's encoding of a version has five digits for the patch number.
fn own_version() -> [u32; 3] {
    [
        6,
        4,
        u32::try_from(toolchain::fingerprint() % 100_000).unwrap_or_default(),
    ]
}

fn cache_folder(set: impl Fn(&str) -> Option<String>) -> PathBuf {
    let absolute = |name: &str| {
        set(name)
            .map(PathBuf::from)
            // The XDG specification asks to ignore relative paths.
            .filter(|path| path.is_absolute())
    };
    set("HIP_SIM_CACHE")
        .map(PathBuf::from)
        .or_else(|| set("TESTGEN_CACHE").map(|folder| PathBuf::from(folder).join("hip-sim")))
        .or_else(|| absolute("XDG_CACHE_HOME").map(|folder| folder.join("hip-sim")))
        .or_else(|| absolute("HOME").map(|folder| folder.join(".cache/hip-sim")))
        .unwrap_or_else(|| std::env::temp_dir().join("hip-sim"))
}

#[cfg(test)]
mod tests;

//! What is simulated, from variables: everything has a default, and what cannot be read is an error, never a guess.
//!
//! | variable | value |
//! |---|---|
//! | `HIP_SIM_DEVICES` | devices separated by `;`, each an architecture and `memory=MIB`, `name=TEXT`, `pci=ADDRESS`, by commas |
//! | `HIP_SIM_VERSION` | the HIP version, as `6.4.2`; without it 6.4 and a patch number that changes with the simulator, so that caches which are kept by version hold nothing of another one |
//! | `HIP_SIM_FAULTS` | see [`Faults`] |
//! | `HIP_SIM_CACHE` | where compiled kernels are kept; without it `hip-sim` below `TESTGEN_CACHE`, else in the user's cache |
//! | `HIP_SIM_CXX` | the C++ compiler |
//! | `HIP_SIM_LONGEST` | bytes; a kernel with a longer text is refused, and an autotuner takes another |
//! | `HIP_SIM_DUMP` | a folder for the text of each kernel |
//! | `HIP_SIM_STATISTICS` | a file that gets a line at the end of the process |

use crate::fault::{FaultError, Faults};
use crate::{Architecture, visibility};
use std::path::PathBuf;

/// Everything that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The devices, in order.
    pub devices: Vec<DeviceModel>,
    /// Major, minor and patch of the HIP version.
    pub version: [u32; 3],
    /// What goes wrong.
    pub faults: Faults,
    /// Where compiled kernels are kept.
    pub cache: PathBuf,
    /// The C++ compiler: a program on PATH or a path.
    pub compiler: String,
    /// Bytes of the longest text that is compiled.
    pub longest: Option<usize>,
    /// A folder that gets the text of each kernel.
    pub dump: Option<PathBuf>,
    /// A file that gets a line of statistics when the process ends.
    pub statistics: Option<PathBuf>,
}

/// One simulated device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceModel {
    /// What it is.
    pub architecture: Architecture,
    /// Bytes of memory.
    pub memory: u64,
    /// Its name; ` (hip-sim)` is added to it wherever it is shown.
    pub name: String,
    /// `0000:03:00.0`.
    pub pci_address: String,
}

/// A variable that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// An architecture that is not simulated.
    #[error("HIP_SIM_DEVICES: `{0}` is not simulated; there are gfx1030, gfx1100, gfx90a and gfx942")]
    Architecture(String),
    /// A property of a device.
    #[error("HIP_SIM_DEVICES: `{0}` is none of memory=MIB, name=TEXT, pci=DDDD:BB:DD.F")]
    Property(String),
    /// The version.
    #[error("HIP_SIM_VERSION: `{0}` is no version; write it as 6.4.2")]
    Version(String),
    /// The longest text.
    #[error("HIP_SIM_LONGEST: `{0}` is no number of bytes")]
    Longest(String),
    /// A fault.
    #[error("HIP_SIM_FAULTS: {0}")]
    Fault(#[from] FaultError),
}

const MIB: u64 = 1 << 20;

impl Configuration {
    /// By the variables that `variable` gives.
    ///
    /// # Errors
    ///
    /// A variable cannot be read.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigurationError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let devices = devices(set("HIP_SIM_DEVICES").as_deref().unwrap_or("gfx1100"))?;
        Ok(Self {
            devices: visibility::visible(devices, &variable),
            version: set("HIP_SIM_VERSION").map_or_else(|| Ok(own_version()), |text| version(&text))?,
            faults: set("HIP_SIM_FAULTS").unwrap_or_default().parse()?,
            cache: cache_folder(set),
            compiler: set("HIP_SIM_CXX").unwrap_or_else(|| "c++".to_owned()),
            longest: set("HIP_SIM_LONGEST").map(|text| longest(&text)).transpose()?,
            dump: set("HIP_SIM_DUMP").map(PathBuf::from),
            statistics: set("HIP_SIM_STATISTICS").map(PathBuf::from),
        })
    }

    /// By the environment of this process.
    ///
    /// # Errors
    ///
    /// A variable cannot be read.
    pub fn from_environment() -> Result<Self, ConfigurationError> {
        Self::read(|name| std::env::var(name).ok())
    }
}

impl DeviceModel {
    /// A device of `architecture` with 16 GiB, a name of its own and no PCI address.
    pub fn new(architecture: Architecture) -> Self {
        let name = format!("AMD {architecture}");
        Self { architecture, memory: 16384 * MIB, name, pci_address: "0000:00:00.0".to_owned() }
    }

    /// The name with the mark that nobody may lose.
    pub fn marked_name(&self) -> String {
        format!("{} (hip-sim)", self.name)
    }
}

fn devices(text: &str) -> Result<Vec<DeviceModel>, ConfigurationError> {
    text.split(';').map(|device| device_model(device.trim())).collect()
}

fn device_model(text: &str) -> Result<DeviceModel, ConfigurationError> {
    let mut words = text.split(',').map(str::trim);
    let architecture = words.next().unwrap_or_default();
    let architecture = architecture.parse().map_err(|()| ConfigurationError::Architecture(architecture.to_owned()))?;
    let mut model = DeviceModel::new(architecture);
    for word in words {
        property(&mut model, word).ok_or_else(|| ConfigurationError::Property(word.to_owned()))?;
    }
    Ok(model)
}

fn property(model: &mut DeviceModel, word: &str) -> Option<()> {
    match word.split_once('=')? {
        ("memory", mib) => model.memory = mib.parse::<u64>().ok().filter(|mib| *mib > 0)?.checked_mul(MIB)?,
        // The structure has room for 256 bytes, the mark and a final zero.
        ("name", name) if !name.is_empty() && name.len() < 200 => model.name = name.to_owned(),
        ("pci", address) => {
            crate::properties::pci_numbers(address)?;
            model.pci_address = address.to_owned();
        }
        _ => return None,
    }
    Some(())
}

fn longest(text: &str) -> Result<usize, ConfigurationError> {
    text.parse().map_err(|_| ConfigurationError::Longest(text.to_owned()))
}

fn version(text: &str) -> Result<[u32; 3], ConfigurationError> {
    let wrong = || ConfigurationError::Version(text.to_owned());
    let numbers: Vec<u32> = text.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    numbers.try_into().map_err(|_| wrong())
}

/// The patch number has room for five digits.
fn own_version() -> [u32; 3] {
    [6, 4, u32::try_from(crate::program::fingerprint() % 100_000).unwrap_or_default()]
}

fn cache_folder(set: impl Fn(&str) -> Option<String>) -> PathBuf {
    let absolute = |name: &str| set(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("HIP_SIM_CACHE")
        .map(PathBuf::from)
        .or_else(|| set("TESTGEN_CACHE").map(|folder| PathBuf::from(folder).join("hip-sim")))
        .or_else(|| absolute("XDG_CACHE_HOME").map(|folder| folder.join("hip-sim")))
        .or_else(|| absolute("HOME").map(|folder| folder.join(".cache/hip-sim")))
        .unwrap_or_else(|| std::env::temp_dir().join("hip-sim"))
}

#[cfg(test)]
mod tests;

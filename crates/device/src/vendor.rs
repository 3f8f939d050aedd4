//! The vendor of a GPU, by PCI id or by name.

use serde::Serialize;

/// The vendor of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    /// Advanced Micro Devices, PCI vendor 1002.
    Amd,
    /// NVIDIA, PCI vendor 10de.
    Nvidia,
}

/// Words that occur in names of NVIDIA GPUs only.
// Drivers before 2020 omit `NVIDIA` itself.
const NVIDIA_WORDS: &[&str] = &["nvidia", "geforce", "tesla", "quadro", "titan ", "grid "];
const AMD_WORDS: &[&str] = &["amd", "radeon", "instinct", "firepro", "gfx"];

impl Vendor {
    /// By the name that a library reports; `None` when it matches no vendor, or both.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        match (
            contains_any(NVIDIA_WORDS, &name),
            contains_any(AMD_WORDS, &name) || names_instinct_model(&name),
        ) {
            (true, false) => Some(Self::Nvidia),
            (false, true) => Some(Self::Amd),
            // Words of both vendors, or of neither, decide nothing.
            _ => None,
        }
    }

    /// By the vendor id of the PCI bus.
    pub const fn of_pci_id(id: u32) -> Option<Self> {
        match id {
            0x1002 => Some(Self::Amd),
            0x10de => Some(Self::Nvidia),
            _ => None,
        }
    }

    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd => "AMD",
            Self::Nvidia => "NVIDIA",
        }
    }
}

/// Whether a word of the name is the product name of an Instinct card: `mi300x`, `mi210`.
fn names_instinct_model(name: &str) -> bool {
    name.split(|character: char| !character.is_ascii_alphanumeric())
        .any(|word| {
            word.strip_prefix("mi").is_some_and(|model| {
                model.len() >= 2 && model.as_bytes()[..2].iter().all(u8::is_ascii_digit)
            })
        })
}

fn contains_any(words: &[&str], name: &str) -> bool {
    words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::Vendor::{self, Amd, Nvidia};

    #[test]
    fn names_identify_the_vendor() {
        let rows = [
            ("AMD Instinct MI300X", Some(Amd)),
            ("MI300X", Some(Amd)),
            ("AMD Radeon RX 7900 XTX [ZLUDA]", Some(Amd)),
            ("radeon graphics", Some(Amd)),
            ("gfx1100", Some(Amd)),
            ("NVIDIA H100 80GB HBM3", Some(Nvidia)),
            ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", Some(Nvidia)),
            ("Tesla V100-SXM2-16GB", Some(Nvidia)),
            ("GeForce GTX 1080", Some(Nvidia)),
            ("Graphics Device", None),
            ("NVIDIA driver for AMD Radeon", None),
            ("Family 3", None),
            ("mimic", None),
        ];
        for (name, vendor) in rows {
            assert_eq!(Vendor::of_name(name), vendor, "{name}");
        }
    }
}

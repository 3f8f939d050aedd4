//! The AMD architectures that can be simulated, and their properties that a kernel depends on.

use std::fmt;
use std::str::FromStr;

/// One simulated architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimulatedArchitecture {
    /// RDNA 2: Radeon RX 6800 and others. No matrix units.
    Gfx1030,
    /// RDNA 3: Radeon RX 7900 and others, with WMMA.
    Gfx1100,
    /// CDNA 2: Instinct MI200.
    Gfx90a,
    /// CDNA 3: Instinct MI300.
    Gfx942,
}

impl SimulatedArchitecture {
    /// Every architecture.
    pub const ALL: &[Self] = &[Self::Gfx1030, Self::Gfx1100, Self::Gfx90a, Self::Gfx942];

    /// The name in `hipDeviceProp_t::gcnArchName`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gfx1030 => "gfx1030",
            Self::Gfx1100 => "gfx1100",
            Self::Gfx90a => "gfx90a",
            Self::Gfx942 => "gfx942",
        }
    }

    /// The number of threads that run in lockstep.
    pub const fn wave_size(self) -> u32 {
        match self {
            Self::Gfx1030 | Self::Gfx1100 => 32,
            Self::Gfx90a | Self::Gfx942 => 64,
        }
    }

    /// Major and minor number of `hipDeviceProp_t`.
    pub const fn version(self) -> (i32, i32) {
        match self {
            Self::Gfx1030 => (10, 3),
            Self::Gfx1100 => (11, 0),
            Self::Gfx90a => (9, 0),
            Self::Gfx942 => (9, 4),
        }
    }
}

impl fmt::Display for SimulatedArchitecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SimulatedArchitecture {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|architecture| architecture.as_str() == text)
            .ok_or(())
    }
}

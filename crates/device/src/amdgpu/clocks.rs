//! The clock of the compute units: `pp_dpm_sclk`, which the kernel's documentation describes
//! (`Documentation/gpu/amdgpu/thermal.rst`, "GPU Sysfs Power State Interfaces").

use crate::system::System;

/// The current and the highest clock of the compute units of the GPU at a PCI address, in MHz.
pub(crate) fn clocks(system: &System, address: &str) -> (Option<u32>, Option<u32>) {
    let text = system.read(format!("/sys/bus/pci/devices/{address}/pp_dpm_sclk"));
    text.as_deref().map_or((None, None), levels)
}

/// A line is one level, `1: 2100Mhz *`, in ascending order; the current one has a star. A GPU that
/// sleeps has a first line `S: 19Mhz *`.
fn levels(text: &str) -> (Option<u32>, Option<u32>) {
    let current = text.lines().find(|line| line.trim_end().ends_with('*'));
    (
        current.and_then(clock),
        text.lines().next_back().and_then(clock),
    )
}

fn clock(line: &str) -> Option<u32> {
    let (_, value) = line.split_once(':')?;
    let value = value.trim_end_matches('*').trim().to_lowercase();
    value.strip_suffix("mhz")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn the_current_level_has_a_star_and_the_last_one_is_the_highest() {
        let text = "0: 500Mhz\n1: 800Mhz *\n2: 2482Mhz\n";
        assert_eq!(levels(text), (Some(800), Some(2482)));
        assert_eq!(
            levels("S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz"),
            (Some(132), Some(2100))
        );
        assert_eq!(levels("0: 500Mhz\n1: 1700Mhz"), (None, Some(1700)));
        assert_eq!(levels("unknown *"), (None, None));
        assert_eq!(levels(""), (None, None));
    }
}

//! The fields of `hipDeviceProp_tR0600` that detection reads.
//!
//! The symbol's name (R0600) versions the layout. It is the same in the bindings of cubecl-hip-sys
//! 7.14 for HIP 6.2, 6.4, 7.0 and 7.14: 1472 bytes, fields at the offsets below.

use std::ffi::c_void;

const NAME: usize = 0;
const UUID: usize = 256;
const TOTAL_GLOBAL_MEM: usize = 288;
const WARP_SIZE: usize = 308;
const INTEGRATED: usize = 396;
const PCI_BUS_ID: usize = 584;
const PCI_DEVICE_ID: usize = 588;
const PCI_DOMAIN_ID: usize = 592;
const GCN_ARCH_NAME: usize = 1160;

/// Several times the size of the structure, so that a longer one of a later version cannot write
/// past the end.
const WORDS: usize = 1024;

/// The memory that the runtime writes the structure to, aligned for it.
pub(super) struct Buffer([u64; WORDS]);

impl Buffer {
    pub(super) fn zeroed() -> Self {
        Self([0; WORDS])
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    fn bytes<const COUNT: usize>(&self, offset: usize) -> [u8; COUNT] {
        std::array::from_fn(|index| {
            let position = offset + index;
            self.0[position / 8].to_ne_bytes()[position % 8]
        })
    }

    fn int(&self, offset: usize) -> u32 {
        u32::from_ne_bytes(self.bytes(offset))
    }
}

/// The properties of a device as the HIP runtime reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HipProperties {
    pub(crate) name: String,
    pub(crate) uuid: Option<String>,
    pub(crate) total_memory: u64,
    pub(crate) warp_size: u32,
    pub(crate) integrated: bool,
    /// `gfx90a`, without the feature suffix `:sramecc+:xnack-`; `None` when the reported name does
    /// not start with gfx.
    pub(crate) architecture: Option<String>,
    /// Whether it is a software simulation.
    pub(crate) simulated: bool,
    pci: (u32, u32, u32),
}

/// The mark in the name of a simulated device.
const SIMULATED: &str = "(hip-sim)";

impl HipProperties {
    /// Reads the properties.
    pub(super) fn read(buffer: &Buffer, simulator: bool) -> Self {
        let name = text(&buffer.bytes::<256>(NAME));
        // Without its features, as in `gfx942:sramecc+:xnack-`, which the kernel does not name.
        let architecture = text(&buffer.bytes::<256>(GCN_ARCH_NAME))
            .split(':')
            .next()
            .map(str::to_lowercase);
        Self {
            // Either mark is enough, the library's or the name's, so that a simulated device is
            // never taken for a real one.
            simulated: simulator || name.contains(SIMULATED),
            name,
            uuid: uuid(buffer.bytes(UUID)),
            total_memory: u64::from_ne_bytes(buffer.bytes(TOTAL_GLOBAL_MEM)),
            warp_size: buffer.int(WARP_SIZE),
            integrated: buffer.int(INTEGRATED) != 0,
            architecture: architecture.filter(|name| name.starts_with("gfx")),
            pci: (
                buffer.int(PCI_DOMAIN_ID),
                buffer.int(PCI_BUS_ID),
                buffer.int(PCI_DEVICE_ID),
            ),
        }
    }

    /// `None` when bus and device are zero.
    pub(super) fn pci_address(&self) -> Option<String> {
        let (domain, bus, device) = self.pci;
        // A simulated device reports zeros.
        (bus != 0 || device != 0).then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.0"))
    }
}

/// A PCI address in the kernel's format.
pub(super) fn address(text: &str) -> Option<String> {
    let address = text.trim().to_lowercase();
    // A simulated device reports an address of zeros.
    let is_zero = address
        .chars()
        .all(|character| matches!(character, '0' | ':' | '.'));
    (!is_zero).then_some(address)
}

/// The bytes before the first zero.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// HIP stores the 16 hexadecimal digits of the kernel's unique id as characters; other bytes are
/// printed in hexadecimal.
fn uuid(bytes: [u8; 16]) -> Option<String> {
    if bytes.iter().all(u8::is_ascii_hexdigit) {
        return Some(format!("GPU-{}", String::from_utf8_lossy(&bytes)));
    }
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes
        .iter()
        .any(|byte| *byte != 0)
        .then(|| format!("GPU-{digits}"))
}

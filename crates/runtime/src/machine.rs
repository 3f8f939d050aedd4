//! This machine's devices, detected once per process.
//!
//! The result does not change with the environment later on: every harness of a process sees the
//! same devices, and `auto` selects the same device for all of them. Detection itself is in
//! `testgen-device`.

use std::sync::OnceLock;
use testgen_device::{Device, Inventory, System, inventory};

/// The host processor. Opens no GPU library.
pub fn host_processor() -> Device {
    static HOST: OnceLock<Device> = OnceLock::new();
    HOST.get_or_init(|| testgen_device::host_processor(&System::host()))
        .clone()
}

/// The inventory of this machine.
pub(crate) fn machine() -> &'static Inventory {
    static MACHINE: OnceLock<Inventory> = OnceLock::new();
    MACHINE.get_or_init(|| inventory(&System::host()))
}

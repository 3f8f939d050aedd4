//! Free memory of the host and of every device.

use crate::{
    facts::MachineFacts,
    row::{Area, DoctorRow, RowStatus},
};
use testgen_device::{Device, DeviceKind};

const GIB: u64 = 1 << 30;
/// Less is not enough for the context, the kernels and a small model.
const LITTLE: u64 = 2 * GIB;

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let mut rows: Vec<DoctorRow> = facts.devices().into_iter().map(row).collect();
    rows.extend(facts.host.memory_limit.map(limit));
    rows
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / GIB as f64)
}

fn row(device: &Device) -> DoctorRow {
    let new =
        |status, evidence: String| DoctorRow::new(Area::Memory, device.label(), status, evidence);
    let total = device
        .total_memory
        .map_or_else(String::new, |total| format!(" of {}", gibibytes(total)));
    match device.free_memory {
        // Only a note: a driver need not report it, and nothing is wrong then.
        None => new(RowStatus::Note, format!("unknown{total}")),
        Some(free) if free >= LITTLE => new(RowStatus::Ok, format!("{}{total}", gibibytes(free))),
        Some(free) => new(RowStatus::Warning, format!("{}{total}", gibibytes(free)))
            .because("other processes use the memory", command(device.kind)),
    }
}

/// The command that shows the processes.
fn command(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "ps aux --sort=-rss | head",
        DeviceKind::Cuda => "nvidia-smi",
        DeviceKind::Rocm => "rocm-smi --showpids",
    }
}

/// The limit counts for all processes of the container; the kernel kills one of them at the limit.
fn limit(left: u64) -> DoctorRow {
    let evidence = format!("the container's limit leaves {}", gibibytes(left));
    let row = DoctorRow::new(Area::Memory, "container", RowStatus::Ok, evidence);
    if left >= LITTLE {
        return row;
    }
    row.warning(
        "processes are killed at the limit, with exit status 137",
        "docker run --memory=16g ...",
    )
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, row},
        row::RowStatus,
    };

    #[test]
    fn little_memory_is_a_warning_with_the_command_that_shows_its_users() {
        let mut facts = amd_host();
        assert_eq!(
            row(&rows(&facts), "rocm:0").evidence,
            "190.0 GiB of 192.0 GiB"
        );
        facts.inventory.devices[1].free_memory = Some(1 << 30);
        facts.host.memory_limit = Some(1 << 29);
        let found = rows(&facts);
        assert_eq!(row(&found, "rocm:0").status, RowStatus::Warning);
        assert_eq!(
            row(&found, "rocm:0").fix.as_deref(),
            Some("rocm-smi --showpids")
        );
        assert_eq!(row(&found, "container").status, RowStatus::Warning);
        facts.inventory.devices[1].free_memory = None;
        assert_eq!(row(&rows(&facts), "rocm:0").status, RowStatus::Note);
    }
}

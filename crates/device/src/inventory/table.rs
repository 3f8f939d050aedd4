//! The inventory as text.

use super::Inventory;
use crate::device::Device;
use std::fmt;

const HEADINGS: [&str; 7] = [
    "device",
    "name",
    "architecture",
    "free of total",
    "address",
    "path",
    "state",
];

impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<[String; 7]> = std::iter::once(HEADINGS.map(str::to_owned))
            .chain(self.devices.iter().map(row))
            .collect();
        write_table(f, &rows)?;
        section(
            f,
            "unusable by burn",
            self.devices.iter().flat_map(|device| {
                let problems = device
                    .unusable_by_burn
                    .iter()
                    .flat_map(|unusable| &unusable.problems);
                problems.map(|problem| format!("{} ({}): {problem}", device.label(), device.path))
            }),
        )?;
        section(
            f,
            "warnings",
            self.devices.iter().flat_map(|device| {
                device
                    .warnings
                    .iter()
                    .map(|problem| format!("{} ({}): {problem}", device.label(), device.path))
            }),
        )?;
        section(
            f,
            "not found",
            self.paths.iter().filter_map(|path| path.absence.clone()),
        )?;
        section(
            f,
            "visible-device variables",
            self.visibility.to_string().lines().map(str::to_owned),
        )?;
        section(f, "kernel", kernel(self).into_iter())?;
        section(
            f,
            "contradictions",
            self.contradictions.iter().map(ToString::to_string),
        )
    }
}

fn row(device: &Device) -> [String; 7] {
    let state = if device.unusable_by_burn.is_some() {
        "not by burn"
    } else if device.simulated {
        "simulated"
    } else {
        "usable"
    };
    let name = if device.integrated {
        format!("{} (integrated)", device.name)
    } else {
        device.name.clone()
    };
    let address = or_dash(&device.pci_address);
    [
        device.label(),
        name,
        or_dash(&device.architecture),
        memory(device),
        address,
        device.path.to_string(),
        state.to_owned(),
    ]
}

fn memory(device: &Device) -> String {
    format!(
        "{} of {} GiB",
        gibibytes(device.free_memory),
        gibibytes(device.total_memory)
    )
}

fn write_table(f: &mut fmt::Formatter<'_>, rows: &[[String; 7]]) -> fmt::Result {
    let widths: [usize; 7] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        // The last cell is filled up to the width of its column, too.
        writeln!(f, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

fn section(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    lines: impl Iterator<Item = String>,
) -> fmt::Result {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        writeln!(f, "\n{title}")?;
    }
    lines.try_for_each(|line| writeln!(f, "  {line}"))
}

fn kernel(inventory: &Inventory) -> Vec<String> {
    let topology = &inventory.topology;
    let compute = topology
        .kfd_gpus()
        .map(|gpu| format!("compute list, node {}: {}", gpu.node, gpu.describe()));
    let bus = topology.pci.iter().map(|gpu| {
        format!(
            "PCI bus: {} GPU at {}, {} driver",
            gpu.vendor.as_str(),
            gpu.address,
            gpu.driver.as_deref().unwrap_or("no")
        )
    });
    let module = topology.nvidia.iter().map(|module| {
        format!(
            "nvidia module {}, GPUs: {}",
            module.version.as_deref().unwrap_or("?"),
            module.gpus.len()
        )
    });
    compute.chain(bus).chain(module).collect()
}

fn or_dash(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "-".to_owned())
}

fn gibibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(
        || "?".to_owned(),
        |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 30)),
    )
}

//! The columns of each program: which one has which quantity, in which unit.

use super::{gpu_metric::GpuMetric, tool::GpuTool};
use crate::unit::GIB;

/// The columns of a heading that are read.
pub(super) struct GpuColumns {
    pub(super) tool: GpuTool,
    pub(super) count: usize,
    pub(super) index: Option<usize>,
    pub(super) name: Option<usize>,
    pub(super) driver: Option<usize>,
    /// Column, quantity, and the number of its units in the unit of the column.
    pub(super) metrics: Vec<(usize, GpuMetric, f64)>,
}

/// A quantity with its columns, the preferred one first, and the factor to the unit of
/// [`GpuMetric`].
type MetricColumn = (GpuMetric, &'static [&'static str], f64);

const MIB: f64 = GIB / 1024.0;

/// Names as `nvidia-smi` prints them, which differ from the names that are asked for: `clocks.sm`
/// is printed as `clocks.current.sm`.
// The unit in brackets is in the heading with `nounits`, too.
const NVIDIA: &[MetricColumn] = &[
    (GpuMetric::Utilization, &["utilization.gpu [%]"], 1.0),
    (GpuMetric::MemoryUsed, &["memory.used [MiB]"], MIB),
    (
        GpuMetric::Power,
        &[
            "power.draw [W]",
            "power.draw.instant [W]",
            "power.draw.average [W]",
        ],
        1.0,
    ),
    (GpuMetric::Temperature, &["temperature.gpu"], 1.0),
    (
        GpuMetric::Clock,
        &["clocks.current.sm [MHz]", "clocks.current.graphics [MHz]"],
        1.0,
    ),
];

const ROCM: &[MetricColumn] = &[
    (GpuMetric::Utilization, &["GPU use (%)"], 1.0),
    (GpuMetric::MemoryUsed, &["VRAM Total Used Memory (B)"], 1.0),
    (
        GpuMetric::Power,
        &[
            "Current Socket Graphics Package Power (W)",
            "Average Graphics Package Power (W)",
        ],
        1.0,
    ),
    (
        GpuMetric::Temperature,
        &[
            "Temperature (Sensor junction) (C)",
            "Temperature (Sensor edge) (C)",
        ],
        1.0,
    ),
    (GpuMetric::Clock, &["sclk clock speed:"], 1.0),
];

/// `metric` has the first name, `monitor` of ROCm 6 and 7 the others. What it calls MB is divided
/// by 1024^2.
const AMD: &[MetricColumn] = &[
    (
        GpuMetric::Utilization,
        &["gfx_activity", "gfx", "gfx_util"],
        1.0,
    ),
    (GpuMetric::MemoryUsed, &["used_vram", "vram_used"], MIB),
    (GpuMetric::Power, &["socket_power", "power_usage"], 1.0),
    (
        GpuMetric::Temperature,
        &["hotspot", "hotspot_temperature", "edge"],
        1.0,
    ),
    (
        GpuMetric::Clock,
        &["gfx_0_clk", "gfx_clk", "gfx_clock"],
        1.0,
    ),
];

impl GpuColumns {
    /// The columns of a heading, or `None` if the line is not one.
    pub(super) fn new(cells: &[&str]) -> Option<Self> {
        let find = |name: &str| cells.iter().position(|cell| *cell == name);
        let first = |names: &[&str]| names.iter().find_map(|name| find(name));
        let candidates = [
            (GpuTool::RocmSmi, ROCM, Some("device")),
            (GpuTool::AmdSmi, AMD, Some("gpu")),
            // The user of nvidia-smi chooses its columns, so that none of them is certain.
            (GpuTool::NvidiaSmi, NVIDIA, None),
        ];
        candidates.into_iter().find_map(|(tool, table, required)| {
            if required.is_some_and(|name| find(name).is_none()) {
                return None;
            }
            let metrics: Vec<_> = table
                .iter()
                .filter_map(|(metric, names, scale)| Some((first(names)?, *metric, *scale)))
                .collect();
            (!metrics.is_empty()).then(|| Self {
                tool,
                count: cells.len(),
                // Any column that differs between GPUs: without one their values would be taken as
                // one GPU's.
                index: first(&["device", "gpu", "index", "uuid", "pci.bus_id"]),
                name: first(&["name", "Card Series", "Card series"]),
                driver: first(&["driver_version", "Driver version"]),
                metrics,
            })
        })
    }
}

//! Tables as the programs print them; each sample names its source.

use super::{GpuMetric, GpuTable, GpuTool, read_gpu_table};
use crate::unit::GIB;
use std::{fs, path::Path};

fn sample(name: &str) -> GpuTable {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/gpu_tables")
        .join(name);
    let text = fs::read(&path).expect("a sample");
    read_gpu_table(&path, text.as_slice())
        .expect("it can be read")
        .expect("it is a table")
}

fn read(text: &str) -> Option<GpuTable> {
    read_gpu_table(Path::new("gpus.csv"), text.as_bytes()).expect("it can be read")
}

/// Count, smallest and largest value.
fn range(table: &GpuTable, gpu: &str, metric: GpuMetric) -> (u64, f64, f64) {
    let summary = &table.gpus[gpu].metrics[&metric];
    let bounds = (summary.min, summary.max);
    let (Some(min), Some(max)) = bounds else {
        panic!("{bounds:?}");
    };
    (summary.count, min, max)
}

#[test]
fn nvidia_smi_is_read_with_units() {
    let table = sample("nvidia_smi_power.csv");
    assert_eq!((table.tool, table.rows), (GpuTool::NvidiaSmi, 5));
    assert_eq!(range(&table, "0", GpuMetric::Power), (3, 187.8, 930.0));
    // `[N/A]` is not a number.
    assert_eq!(range(&table, "1", GpuMetric::Power), (1, 190.96, 190.96));
    assert_eq!(range(&table, "1", GpuMetric::Clock), (2, 120.0, 1965.0));
    assert_eq!(range(&table, "0", GpuMetric::Utilization), (3, 0.0, 99.0));
    assert_eq!(range(&table, "0", GpuMetric::Temperature), (3, 33.0, 63.0));
    let named = sample("nvidia_smi_name.csv");
    let gpu = &named.gpus["0"];
    assert_eq!(gpu.name.as_deref(), Some("NVIDIA A100-SXM4-40GB"));
    assert_eq!(gpu.driver.as_deref(), Some("535.129.03"));
    let bytes = 4.0 * 1024.0 * 1024.0;
    assert_eq!(range(&named, "0", GpuMetric::MemoryUsed), (1, bytes, bytes));
}

#[test]
fn rocm_smi_is_read_after_a_warning_and_with_repeated_headings() {
    let table = sample("rocm_smi.csv");
    assert_eq!((table.tool, table.unmatched), (GpuTool::RocmSmi, 2));
    assert_eq!(
        range(&table, "0", GpuMetric::MemoryUsed),
        (2, 27_856_896.0, 511_442_944.0)
    );
    assert_eq!(range(&table, "0", GpuMetric::Power), (1, 20.358, 20.358));
    assert_eq!(range(&table, "1", GpuMetric::Utilization), (1, 97.0, 97.0));
    let name = table.gpus["1"].name.as_deref();
    assert_eq!(name, Some("AMD Radeon RX 9070 XT"));
}

#[test]
fn amd_smi_is_read_with_quoted_lists() {
    let metric = sample("amd_smi_metric.csv");
    assert_eq!((metric.tool, metric.rows), (GpuTool::AmdSmi, 2));
    assert_eq!(range(&metric, "0", GpuMetric::Power), (1, 500.0, 500.0));
    assert_eq!(range(&metric, "1", GpuMetric::Clock), (1, 1404.0, 1404.0));
    assert_eq!(range(&metric, "1", GpuMetric::Temperature), (1, 40.0, 40.0));
    for name in ["amd_smi_monitor_6_3.csv", "amd_smi_monitor_6_4.csv"] {
        let monitor = sample(name);
        let bytes = 283.0 * GIB / 1024.0;
        assert_eq!(
            range(&monitor, "0", GpuMetric::MemoryUsed),
            (1, bytes, bytes)
        );
        assert_eq!(
            range(&monitor, "0", GpuMetric::Utilization),
            (1, 10.0, 10.0)
        );
        assert_eq!(range(&monitor, "0", GpuMetric::Clock), (1, 132.0, 132.0));
    }
}

#[test]
fn other_texts_are_not_tables() {
    for text in [
        "",
        "a,b\n1,2\n",
        "device,name\ncard0,x\n",
        "iter 3: loss 2.5, time 1.0ms, mfu 1.00%\n",
        "0, 912.10 W, 61\n",
    ] {
        assert_eq!(read(text), None, "`{text}`");
    }
    let late = format!("{}gpu,gfx\n0,10\n", "x\n".repeat(60));
    assert_eq!(read(&late), None);
}

#[test]
fn damaged_rows_are_counted() {
    let table = read("gpu,gfx,vram_used\n0,10,5\n0,10\n0,N/A,N/A\n1,1e999,\n").expect("a table");
    assert_eq!((table.rows, table.unmatched), (1, 3));
    let many: String = (0..5000).map(|index| format!("{index},1\n")).collect();
    let table = read(&format!("gpu,gfx\n{many}")).expect("a table");
    assert_eq!((table.gpus.len(), table.unmatched), (4096, 904));
}

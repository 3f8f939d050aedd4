//! No bytes make reading a log fail otherwise than with an error.

use crate::{
    gpu_table::read_gpu_table,
    page::render_page,
    reading::read_log,
    report::{LogReport, LogSource, render_json},
    text::render_human,
};
use std::path::Path;
use testgen_fuzz::{Target, assert_message, seeds};

#[test]
fn fuzz_gpu_tables() {
    Target {
        name: "gpu_table",
        seeds: seeds(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu_tables"),
            Some("csv"),
        ),
        dictionary: &[
            "gpu,gfx,power_usage",
            "device,GPU use (%)",
            "index, name, utilization.gpu [%]",
            "memory.used [MiB]",
            "card0",
            "N/A",
            "[N/A]",
            "\"",
            "\"[0, 0]\"",
            ", ",
            ",",
            "\n",
            "\r",
            "1e308",
            "(800Mhz)",
        ],
        repair: None,
        executions: 3000,
        behaviours: 20,
        check: &|bytes| {
            let table = match read_gpu_table(Path::new("table"), bytes) {
                Err(error) => return assert_message(&error.to_string()),
                Ok(None) => return "no table".to_owned(),
                Ok(Some(table)) => table,
            };
            assert!(table.gpus.len() as u64 <= table.rows);
            for gpu in table.gpus.values() {
                assert!(
                    gpu.metrics
                        .values()
                        .all(|metric| metric.count <= table.rows)
                );
            }
            let behaviour = format!(
                "{:?} {} {} {:?}",
                table.tool,
                table.rows.min(3),
                table.unmatched.min(3),
                table.gpus.values().map(|gpu| gpu.metrics.len()).max(),
            );
            let log = read_log(
                Path::new("log"),
                b"iter 1: loss 2.0, time 2.0ms, mfu 1.00%\n".as_slice(),
            );
            let source = LogSource {
                files: Vec::new(),
                gpus: vec![table],
            };
            let report = LogReport::with_sources(vec![(log.expect("a line of nanoGPT"), source)]);
            assert_message(&render_human(&report, None));
            serde_json::from_str::<serde_json::Value>(&render_json(&report))
                .expect("JSON is valid");
            behaviour
        },
    }
    .run();
}

#[test]
fn fuzz_training_logs() {
    Target {
        name: "training_log",
        seeds: seeds(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples"),
            Some("log"),
        ),
        dictionary: &[
            "step: ",
            "  tps: ",
            "iteration ",
            "elapsed time per iteration (ms): ",
            "lm loss: ",
            "'loss': ",
            "[batch=",
            "[step=",
            "Train ",
            "train/",
            "Epoch ",
            "Epoch(train)",
            "| 1/2 [",
            "][1/2]",
            "s/it",
            "it/s",
            "%|",
            "SamplesPerSec=",
            ", skipped=",
            "number of nan iterations: ",
            "[rank",
            "\u{1b}[",
            "\u{1b}]",
            "\r",
            "\r\n",
            "\n",
            "nan",
            "-inf",
            "1,234",
            "1e308",
            "1e-320",
            "9007199254740993",
            "GiB",
            "K",
            "TFLOPS",
        ],
        repair: None,
        executions: 3000,
        behaviours: 60,
        check: &|bytes| {
            let summary = match read_log(Path::new("log"), bytes) {
                Err(error) => return assert_message(&error.to_string()),
                Ok(summary) => summary,
            };
            assert!(
                summary.records > 0
                    && summary.first_step <= summary.last_step
                    && summary.bytes == bytes.len() as u64
            );
            assert_eq!(summary.formats.values().sum::<u64>(), summary.records);
            let behaviour = format!(
                "{:?} {:?} {}",
                summary.formats.keys(),
                summary.metrics.keys(),
                summary.non_finite.len().min(2)
            );
            let report = LogReport::new(vec![summary.clone(), summary]);
            assert_message(&render_human(&report, Some(0.1)));
            serde_json::from_str::<serde_json::Value>(&render_json(&report))
                .expect("JSON is valid");
            assert!(render_page(&report, None).ends_with("</html>\n"));
            // A log differs from itself nowhere.
            assert!(
                report
                    .comparison
                    .is_some_and(|found| found.largest_loss_difference().unwrap_or(0.0) == 0.0)
            );
            behaviour
        },
    }
    .run();
}

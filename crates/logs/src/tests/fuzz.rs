//! No bytes make reading a log fail otherwise than with an error.

use crate::{
    page::render_page,
    reading::read_log,
    report::{LogReport, render_json},
    text::render_human,
};
use std::path::Path;
use testgen_fuzz::{Target, assert_message, seeds};

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

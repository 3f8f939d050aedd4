//! Reads a report of times: every bad line is a problem.

use crate::results::read::{ReportError, read_report, report_files};
use std::path::{Path, PathBuf};
use testgen_base::json_lines::JsonLines;
use testgen_types::BenchEntry;

/// The content of a report: its entries, and a message for each bad line.
pub type BenchLines = JsonLines<BenchEntry>;

/// Reads the report `path`.
///
/// # Errors
///
/// When the file cannot be read.
pub fn read_bench_lines(path: &Path) -> Result<BenchLines, ReportError> {
    Ok(parse(&read_report(path)?))
}

/// Reads every report of `paths` as one; a directory contributes all `*.jsonl` and `*.jsonl.gz`
/// files below it.
///
/// # Errors
///
/// When a path does not exist or cannot be read, or a directory contains no report.
pub fn read_bench_reports(paths: &[PathBuf]) -> Result<BenchLines, ReportError> {
    let mut all = BenchLines::default();
    for path in paths {
        for file in report_files(path)? {
            let BenchLines { entries, problems } = read_bench_lines(&file)?;
            all.entries.extend(entries);
            let name = file.display();
            all.problems.extend(
                problems
                    .iter()
                    .map(|problem| format!("`{name}`: {problem}")),
            );
        }
    }
    Ok(all)
}

fn parse(text: &str) -> BenchLines {
    JsonLines::parse(text, BenchEntry::VERSION)
}

#[cfg(test)]
pub(in crate::bench) mod tests {
    use super::{BenchEntry, parse};

    const LINE: &str = r#"{"version":1,"testgen":"0.1.0","optimised":true,"subject":"bert","config":"00ff","architecture":"encoder_only","device":"cpu","device_index":null,"device_facts":{"name":"AMD EPYC","architecture":"x86_64","pci_address":null,"driver_version":null,"runtime_version":null,"simulated":false,"tf32":false,"compute_units":null,"clock_mhz":null,"max_clock_mhz":null},"host":{"processor":"AMD EPYC","processors":2,"load":0.5},"engine":null,"engine_versions":null,"precision":"f32","measured":"forward","case":null,"batch":2,"tokens":128,"steps":null,"bytes":null,"repetitions":{"warmup":1,"iterations":3},"status":"timed","reason":null,"times":{"median":2.0,"p5":1.1,"p95":2.9,"milliseconds":[1.0,3.0,2.0]}}"#;

    /// An entry as a suite writes it.
    pub(in crate::bench) fn entry() -> BenchEntry {
        serde_json::from_str(LINE).expect("it is an entry")
    }

    #[test]
    fn bad_lines_are_problems_with_their_number() {
        let newer = LINE.replace("\"version\":1", "\"version\":2");
        let unknown = LINE.replace("forward", "backward");
        let lines = parse(&format!("{LINE}\n\n{newer}\n{unknown}\n"));
        assert_eq!(lines.entries, [entry()]);
        let [version, variant] = lines.problems.as_slice() else {
            panic!("{:?}", lines.problems);
        };
        assert!(version.contains("line 3: version 2"), "{version}");
        assert!(
            variant.contains("line 4: unknown variant `backward`"),
            "{variant}"
        );
    }
}

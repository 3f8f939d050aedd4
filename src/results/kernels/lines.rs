//! Reads a report of kernels: every bad line is a problem.

use crate::results::read::ReportError;
use std::path::Path;
use testgen_base::json_lines::JsonLines;
use testgen_types::{
    KernelEntry,
    bounded_file::{limit, read_bytes},
};

/// The content of a report: its entries, and a message for each bad line.
pub type KernelLines = JsonLines<KernelEntry>;

/// Reads the report `path`.
///
/// # Errors
///
/// When the file cannot be read.
pub fn read_kernel_lines(path: &Path) -> Result<KernelLines, ReportError> {
    let bytes = read_bytes(path, limit::REPORT)?;
    // Bytes that are not UTF-8 must not keep the other lines from being read.
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

fn parse(text: &str) -> KernelLines {
    JsonLines::parse(text, KernelEntry::VERSION)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{KernelEntry, parse};

    const LINE: &str = r#"{"version":1,"kernel":"matmul_naive","device":"rocm","device_name":"simulated gfx1100","hardware":{},"simulated":true,"precision":"f16","left":{"shape":[2,4],"strides":[4,1]},"right":{"shape":[4,3],"strides":[3,1]},"outcome":"correct","headroom":3.5,"chosen":true,"model":"bert","check":"output_golden"}"#;

    /// An entry as a suite writes it.
    pub(in crate::results::kernels) fn entry() -> KernelEntry {
        serde_json::from_str(LINE).expect("it is an entry")
    }

    #[test]
    fn bad_lines_are_problems_with_their_number() {
        let newer = LINE.replace("\"version\":1", "\"version\":2");
        let unknown = LINE.replace("correct", "fine");
        let lines = parse(&format!("{LINE}\n\n{newer}\n{unknown}\n"));
        assert_eq!(lines.entries, [entry()]);
        assert!(
            lines.problems[0].contains("line 3: version 2"),
            "{:?}",
            lines.problems
        );
        assert!(
            lines.problems[1].contains("line 4: unknown variant `fine`"),
            "{:?}",
            lines.problems
        );
    }
}

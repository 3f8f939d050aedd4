//! The line by which a suite reports how far it has compiled its GPU kernels.

use std::fmt;

// Text and not JSON, so that a person who runs the suite without testgen can read it.
const PREFIX: &str = "compiling GPU kernels: ";

/// How far a suite has compiled its GPU kernels: `compiling GPU kernels: 12/99`. The suite prints
/// it as a separate line on stderr, and `testgen run` reads it from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileProgress {
    /// The parts that are finished. A part is the kernels of one model, or some of them where fewer
    /// models than processes are compiled.
    pub done: usize,
    /// All parts.
    pub all: usize,
}

impl fmt::Display for CompileProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}/{}", self.done, self.all)
    }
}

impl CompileProgress {
    /// Reads a line of a suite's stderr, or `None` if it is another one.
    pub fn of_line(line: &str) -> Option<Self> {
        // A library may print any line to stderr; without both numbers it is ordinary output.
        let (done, all) = line.strip_prefix(PREFIX)?.split_once('/')?;
        Some(Self {
            done: done.parse().ok()?,
            all: all.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CompileProgress;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let progress = CompileProgress { done: 12, all: 99 };
        assert_eq!(progress.to_string(), "compiling GPU kernels: 12/99");
        assert_eq!(
            CompileProgress::of_line(&progress.to_string()),
            Some(progress)
        );
        for line in [
            "compiling GPU kernels: 12",
            "12/99",
            "compiling GPU kernels: a/b",
            "",
        ] {
            assert_eq!(CompileProgress::of_line(line), None, "{line}");
        }
    }
}

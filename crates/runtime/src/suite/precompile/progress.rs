//! The progress of compiling, on stderr: a bar that is redrawn on a terminal, a line for each
//! finished part elsewhere.

use std::{
    io::{IsTerminal, Write, stderr},
    time::Duration,
};
use testgen_types::CompileProgress;

const BAR: usize = 30;

/// Shows `progress`.
pub(super) fn show(progress: CompileProgress) {
    let mut stderr = stderr().lock();
    // A closed stderr does not matter.
    let _ = match stderr.is_terminal() {
        true => write!(stderr, "\r\x1b[K{progress} [{}]", bar(progress)),
        false => writeln!(stderr, "{progress}"),
    };
    let _ = stderr.flush();
}

/// Shows the end, in place of the bar: the kernels of `models` of `all` models are compiled.
pub(super) fn end(models: usize, all: usize, processes: usize, took: Duration) {
    let mut stderr = stderr().lock();
    let clear = if stderr.is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(stderr, "{clear}{}", summary(models, all, processes, took));
}

fn bar(CompileProgress { done, all }: CompileProgress) -> String {
    let filled = BAR * done / all.max(1);
    format!("{}{}", "=".repeat(filled), " ".repeat(BAR - filled))
}

fn summary(models: usize, all: usize, processes: usize, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let missing = match models == all {
        true => "",
        false => "; the checks compile what is missing",
    };
    format!(
        "GPU kernels compiled for {models} of {all} harnesses in {seconds:.1} s by {processes} processes{missing}"
    )
}

#[cfg(test)]
mod tests {
    use super::{CompileProgress, Duration, bar, summary};

    #[test]
    fn the_bar_has_one_length() {
        assert_eq!(bar(CompileProgress { done: 0, all: 7 }), " ".repeat(30));
        assert_eq!(
            bar(CompileProgress { done: 1, all: 3 }),
            format!("{}{}", "=".repeat(10), " ".repeat(20))
        );
        assert_eq!(bar(CompileProgress { done: 7, all: 7 }), "=".repeat(30));
    }

    #[test]
    fn the_end_says_what_is_missing() {
        let seconds = Duration::from_millis(1500);
        assert_eq!(
            summary(2, 2, 4, seconds),
            "GPU kernels compiled for 2 of 2 harnesses in 1.5 s by 4 processes"
        );
        assert!(summary(1, 2, 4, seconds).ends_with("; the checks compile what is missing"));
    }
}

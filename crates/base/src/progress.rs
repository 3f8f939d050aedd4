//! Progress of a run on stderr: one redrawn line on a terminal, plain lines elsewhere, nothing with
//! `--quiet`.

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};
use testgen_types::CompileProgress;

/// Redrawing more often causes flicker.
const REDRAW: Duration = Duration::from_millis(100);

/// The interval of lines in a log, which show that the suite is still running.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Prints the current stage, its duration and the last finished test.
#[derive(Debug)]
pub struct RunProgress {
    mode: Mode,
    started: Instant,
    drawn: Option<Instant>,
}

/// How far the tests of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestProgress<'t> {
    /// Tests that ended.
    pub done: usize,
    /// All tests, if their number is known.
    pub all: Option<usize>,
    /// Tests that failed.
    pub failed: usize,
    /// The expected time until the last one ends.
    pub left: Option<Duration>,
    /// The test that has been running longest, or the one that ended last.
    pub current: &'t str,
}

impl TestProgress<'_> {
    /// `12/40, 1 failed, 35 s, about 60 s left  name`.
    fn describe(&self, elapsed: Duration) -> String {
        let all = self.all.map_or_else(String::new, |all| format!("/{all}"));
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let left = self.left.map_or_else(String::new, |left| {
            format!(", about {} left", rounded(left))
        });
        let (done, current) = (self.done, self.current);
        format!(
            "{done}{all}{failed}, {} s{left}  {current}",
            elapsed.as_secs()
        )
    }
}

/// `2/40, 35 s, about 3 min left  bert: noise 3/24`.
fn describe_recording(done: &str, running: &str, share: f64, elapsed: Duration) -> String {
    let left = time_left(share, elapsed).map_or_else(String::new, |left| {
        // The times first, because a terminal cuts the end.
        format!(", about {} left", rounded(left))
    });
    format!("{done}, {} s{left}  {running}", elapsed.as_secs())
}

/// The expected time until the end of work of which `share`, from 0 to 1, took `elapsed`; `None`
/// before a part of it is done.
pub fn time_left(share: f64, elapsed: Duration) -> Option<Duration> {
    let share = share.min(1.0);
    (share > 0.0)
        .then(|| Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - share) / share))?
        .ok()
}

/// The line in the place of the last one. A terminal cuts it at its width.
fn redrawn(line: &str) -> String {
    // Without wrapping: a wrapped line would stay, because only its last row is removed.
    format!("\r\x1b[K\x1b[?7l{line}\x1b[?7h")
}

/// Seconds, and minutes from two on.
fn rounded(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        // An expected time is not exact.
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Quiet,
    Lines,
    Terminal,
}

impl RunProgress {
    /// Progress for this process's stderr.
    pub fn new(quiet: bool) -> Self {
        let mode = match (quiet, stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Terminal,
            (false, false) => Mode::Lines,
        };
        Self {
            mode,
            started: Instant::now(),
            drawn: None,
        }
    }

    /// Whether nothing is printed.
    pub fn is_quiet(&self) -> bool {
        self.mode == Mode::Quiet
    }

    /// Prints the start of a stage, for instance `building` with the path of a manifest.
    pub fn stage(&mut self, verb: &str, object: &str) {
        self.started = Instant::now();
        if self.mode != Mode::Quiet {
            write_stderr(&format!("{verb:>10} {object}\n"));
        }
    }

    /// Prints how far the suite has compiled its GPU kernels.
    pub fn compiling(&mut self, compiled: CompileProgress) {
        let CompileProgress { done, all } = compiled;
        self.update(
            "compiling",
            &format!(
                "GPU kernels {done}/{all}, {} s",
                self.started.elapsed().as_secs()
            ),
        );
    }

    /// Prints how far the tests are.
    pub fn tests(&mut self, tests: &TestProgress<'_>) {
        let elapsed = self.started.elapsed();
        self.update("testing", &tests.describe(elapsed));
    }

    /// Starts the clock of a stage that prints nothing before its first update.
    pub fn begin(&mut self) {
        self.started = Instant::now();
    }

    /// Prints how far recorders are: how many are `done`, the steps of the `running`
    /// ones, and the share of their work that is done, from 0 to 1.
    pub fn recording(&mut self, done: &str, running: &str, share: f64) {
        let elapsed = self.started.elapsed();
        let line = describe_recording(done, running, share, elapsed);
        self.update("recording", &line);
    }

    /// Prints that a checkpoint is recorded.
    pub fn recorded(&mut self, checkpoint: &str) {
        if self.mode != Mode::Quiet {
            self.message(&format!("{:>10} {checkpoint}", "recorded"));
        }
    }

    /// Prints a line that is kept, also with `--quiet`.
    pub fn message(&mut self, line: &str) {
        self.clear();
        write_stderr(&format!("{line}\n"));
    }

    /// Removes the redrawn line.
    pub fn clear(&mut self) {
        if self.drawn.is_some() && self.mode == Mode::Terminal {
            write_stderr("\r\x1b[K");
        }
    }

    fn update(&mut self, verb: &str, object: &str) {
        let interval = match self.mode {
            Mode::Quiet => return,
            Mode::Lines => LOG_INTERVAL,
            Mode::Terminal => REDRAW,
        };
        // A stage that ends at once draws nothing.
        if self.drawn.unwrap_or(self.started).elapsed() < interval {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = format!("{verb:>10} {object}");
        match self.mode {
            Mode::Terminal => write_stderr(&redrawn(&line)),
            Mode::Quiet | Mode::Lines => write_stderr(&format!("{line}\n")),
        }
    }

    /// Prints the end of a stage with its duration, in place of the redrawn line.
    pub fn end(&mut self, verb: &str, object: &str) {
        self.clear();
        self.drawn = None;
        if self.mode != Mode::Quiet {
            write_stderr(&format!(
                "{verb:>10} {object} in {:.1} s\n",
                self.started.elapsed().as_secs_f64()
            ));
        }
    }
}

fn write_stderr(text: &str) {
    let mut stderr = stderr().lock();
    // A closed stderr does not affect the result.
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_failures_the_expected_end_and_a_check() {
        let mut tests = TestProgress {
            done: 12,
            all: Some(40),
            failed: 0,
            left: None,
            current: "moe::mixtral::cuda::finite_f32 (9 s)",
        };
        let describe = |tests: &TestProgress<'_>| tests.describe(Duration::from_secs(35));
        assert_eq!(
            describe(&tests),
            "12/40, 35 s  moe::mixtral::cuda::finite_f32 (9 s)"
        );
        (tests.failed, tests.left) = (1, Some(Duration::from_secs(61)));
        assert_eq!(
            describe(&tests),
            "12/40, 1 failed, 35 s, about 61 s left  moe::mixtral::cuda::finite_f32 (9 s)"
        );
        (tests.all, tests.left) = (None, Some(Duration::from_secs(601)));
        assert!(describe(&tests).starts_with("12, 1 failed, 35 s, about 11 min left"));
    }

    #[test]
    fn a_recording_has_an_expected_end_once_a_part_is_done() {
        let describe =
            |share| describe_recording("1/4", "t5: noise 3/24", share, Duration::from_secs(30));
        assert_eq!(describe(0.0), "1/4, 30 s  t5: noise 3/24");
        assert_eq!(describe(0.25), "1/4, 30 s, about 90 s left  t5: noise 3/24");
        assert_eq!(
            describe(0.01),
            "1/4, 30 s, about 50 min left  t5: noise 3/24"
        );
        assert_eq!(
            describe(1.01),
            "1/4, 30 s, about 0 s left  t5: noise 3/24",
            "parts that took longer than expected"
        );
    }

    #[test]
    fn a_line_is_redrawn_without_wrapping() {
        let line = redrawn("testing 1/2");
        let (before, after) = line.split_once("testing 1/2").expect("the line");
        assert!(before.ends_with("\x1b[?7l") && before.contains("\r\x1b[K"));
        assert_eq!(after, "\x1b[?7h", "later output wraps again");
    }
}

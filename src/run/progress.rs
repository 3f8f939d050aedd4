//! How far a run is, on stderr: one line that is redrawn on a terminal, plain lines elsewhere, nothing when quiet.

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

/// Redrawing more often than this only flickers.
const REDRAW: Duration = Duration::from_millis(100);

/// In a log, a line now and then shows that the suite still runs.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Says which stage runs, for how long, and at which test.
#[derive(Debug)]
pub struct Progress {
    face: Face,
    started: Instant,
    drawn: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Face {
    Quiet,
    Lines,
    Terminal,
}

impl Progress {
    /// Progress for this process's stderr.
    pub fn new(quiet: bool) -> Self {
        let face = match (quiet, stderr().is_terminal()) {
            (true, _) => Face::Quiet,
            (false, true) => Face::Terminal,
            (false, false) => Face::Lines,
        };
        Self { face, started: Instant::now(), drawn: None }
    }

    /// Whether nothing is to be shown.
    pub fn is_quiet(&self) -> bool {
        self.face == Face::Quiet
    }

    /// A stage begins, for instance `building` and what.
    pub fn stage(&mut self, verb: &str, what: &str) {
        self.started = Instant::now();
        if self.face != Face::Quiet {
            say(&format!("{verb:>10} {what}\n"));
        }
    }

    /// Test `done` of `all` has ended; the last one was `last`.
    pub fn tests(&mut self, done: usize, all: usize, last: &str) {
        let interval = match self.face {
            Face::Quiet => return,
            Face::Lines => LOG_INTERVAL,
            Face::Terminal => REDRAW,
        };
        if self.drawn.unwrap_or(self.started).elapsed() < interval {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = format!("{:>10} {done}/{all}, {} s  {last}", "testing", self.started.elapsed().as_secs());
        match self.face {
            Face::Terminal => say(&format!("\r\x1b[K{line}")),
            Face::Quiet | Face::Lines => say(&format!("{line}\n")),
        }
    }

    /// The stage has ended: says how long it took, and removes what was drawn.
    pub fn end(&mut self, verb: &str, what: &str) {
        if self.drawn.take().is_some() && self.face == Face::Terminal {
            say("\r\x1b[K");
        }
        if self.face != Face::Quiet {
            say(&format!("{verb:>10} {what} in {:.1} s\n", self.started.elapsed().as_secs_f64()));
        }
    }
}

fn say(text: &str) {
    let mut stderr = stderr().lock();
    // A closed stderr changes nothing about the result.
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

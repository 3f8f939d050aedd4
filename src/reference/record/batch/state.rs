//! How far all recorders are, as text and as a share.

use super::target::RecordTarget;

/// The step of a recorder.
#[derive(Debug, Clone)]
pub(super) struct RecorderStep {
    pub(super) step: String,
    pub(super) done: u64,
    pub(super) of: u64,
}

/// How far all recorders are.
pub(super) struct BatchState<'a> {
    pub(super) targets: &'a [RecordTarget],
    pub(super) steps: Vec<Option<RecorderStep>>,
    pub(super) ended: usize,
}

impl BatchState<'_> {
    /// `2/40`.
    pub(super) fn done(&self) -> String {
        format!("{}/{}", self.ended, self.targets.len())
    }

    /// `bert: noise 3/24, llama: config 12/64`.
    pub(super) fn running(&self) -> String {
        let running = self
            .steps
            .iter()
            .zip(self.targets)
            .filter_map(|(found, target)| {
                let found = found.as_ref()?;
                Some(format!("{}: {}", target.name, found.text()))
            });
        running.collect::<Vec<_>>().join(", ")
    }

    /// The share of the work that is done, from 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let running: f64 = self.steps.iter().flatten().map(RecorderStep::share).sum();
        (self.ended as f64 + running) / self.targets.len().max(1) as f64
    }

    /// A line with the name of its checkpoint, if there are several.
    pub(super) fn named(&self, target: usize, line: &str) -> String {
        if self.targets.len() == 1 {
            line.to_owned()
        } else {
            format!("{}: {line}", self.targets[target].name)
        }
    }
}

/// The steps with the share of a recording's time that precedes each, and the share that it takes.
// Weights are computed before the recording, in no part of its time.
const STEPS: [(&str, f64, f64); 4] = [
    ("inputs", 0.0, 0.1),
    ("noise", 0.1, 0.35),
    ("config", 0.45, 0.5),
    ("answers", 0.95, 0.05),
];

impl RecorderStep {
    /// `noise 3/24`; a step without parts has no count.
    fn text(&self) -> String {
        match self.of {
            0 => self.step.clone(),
            of => format!("{} {}/{of}", self.step, self.done),
        }
    }

    fn share(&self) -> f64 {
        let (_, before, own) = STEPS
            .into_iter()
            .find(|(name, ..)| *name == self.step)
            .unwrap_or_default();
        before + own * self.done as f64 / self.of.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn targets(names: &[&str]) -> Vec<RecordTarget> {
        names
            .iter()
            .map(|name| RecordTarget {
                name: (*name).to_owned(),
                checkpoint: PathBuf::new(),
                synthetic: None,
            })
            .collect()
    }

    #[test]
    fn progress_names_the_models_that_are_recorded_and_their_steps() {
        let targets = targets(&["bert", "llama", "gpt2", "t5"]);
        let step = |step: &str, done, of| {
            Some(RecorderStep {
                step: step.to_owned(),
                done,
                of,
            })
        };
        let state = BatchState {
            targets: &targets,
            steps: vec![
                None,
                step("noise", 6, 24),
                step("inputs", 0, 0),
                step("weights", 0, 0),
            ],
            ended: 1,
        };
        assert_eq!(state.done(), "1/4");
        assert_eq!(
            state.running(),
            "llama: noise 6/24, gpt2: inputs, t5: weights"
        );
        assert!(
            (state.share() - (1.0 + 0.1 + 0.35 / 4.0) / 4.0).abs() < 1e-9,
            "{}",
            state.share()
        );
        assert_eq!(state.named(1, "note"), "llama: note");
    }
}

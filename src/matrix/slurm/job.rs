//! One job: the script that Slurm starts, and the steps in it.
//!
//! An attempt has a separate directory, which is renamed when it has ended. When a node fails,
//! Slurm starts the job again: the records of the first attempt are not among the results, and none
//! is lost or doubled.

use crate::matrix::slurm_options::Slurm;
use std::fmt::Write;
use testgen_base::text::shell_quote;
use testgen_types::DeviceKind;

/// The directory of reports of the running attempt.
pub(super) const ATTEMPT: &str = "\"$ATTEMPT\"";

/// A job, or an array of jobs.
pub(super) struct SlurmJob<'p> {
    pub(super) name: String,
    pub(super) minutes: u32,
    /// Options of sbatch, quoted where necessary.
    pub(super) options: Vec<String>,
    /// The first and the last slice of an array, and the number of slices of the partition.
    pub(super) slices: Option<(u32, u32, u32)>,
    pub(super) slurm: &'p Slurm,
    pub(super) container: Option<Container<'p>>,
    /// The directory of its reports, below `reports`; the directories of an array have the slice
    /// appended.
    pub(super) results: Option<String>,
    /// The lines that run in the container.
    pub(super) steps: Vec<String>,
}

/// An image that Apptainer runs.
pub(super) struct Container<'p> {
    /// Its name with a digest.
    pub(super) image: &'p str,
    /// The kind of GPUs that it sees.
    pub(super) flag: Option<DeviceKind>,
}

impl SlurmJob<'_> {
    /// The lines that write the steps and submit the job.
    pub(super) fn submission(&self) -> String {
        let Self { name, steps, .. } = self;
        let mut text = format!(
            // The quoted word keeps the shell that submits from expanding the variables of the job.
            "cat > \"$RUN\"/jobs/{name}.sh <<'TESTGEN_STEPS'\nset -euo pipefail\n{}\nTESTGEN_STEPS\n",
            steps.join("\n")
        );
        if let Some(expected) = self.expected() {
            let _ = writeln!(text, "printf '%s\\n' {expected} >> \"$RUN\"/expected");
        }
        let _ = write!(
            text,
            "submit {} <<'TESTGEN_JOB'\n{}\nTESTGEN_JOB\n",
            self.options().join(" \\\n  "),
            self.script().join("\n")
        );
        text
    }

    fn options(&self) -> Vec<String> {
        let Self { name, minutes, .. } = self;
        // Slurm writes the index for `%a`; without it all slices would share one log.
        let file = if self.slices.is_some() { "-%a" } else { "" };
        let own = [
            format!("--job-name={name}"),
            // Slurm reads a plain number as minutes.
            format!("--time={minutes}"),
            format!("--output=\"$RUN\"/logs/{name}{file}.txt"),
        ];
        let site = self.slurm.options.iter().map(|option| shell_quote(option));
        own.into_iter()
            .chain(self.options.iter().cloned())
            .chain(site)
            .collect()
    }

    /// The directories of results, as the shell expands them.
    fn expected(&self) -> Option<String> {
        let results = self.results.as_ref()?;
        Some(match self.slices {
            // The shell expands `{1..1}`, too.
            Some((first, last, all)) => format!("{results}-{{{first}..{last}}}of{all}"),
            None => results.clone(),
        })
    }

    fn start(&self) -> Vec<String> {
        let modules = &self.slurm.modules;
        // `module` is a function of login shells, and some versions of it read variables that are
        // not set.
        let shell = if modules.is_empty() {
            "#!/usr/bin/env bash"
        } else {
            "#!/bin/bash -l\nset -e"
        };
        let loads = modules
            .iter()
            .map(|module| format!("module load {}", shell_quote(module)));
        [shell.to_owned()]
            .into_iter()
            .chain(loads)
            .chain(["set -euo pipefail".to_owned()])
            .collect()
    }

    /// The lines that Slurm starts.
    fn script(&self) -> Vec<String> {
        let mut lines = self.start();
        let launch = format!(
            "{}bash \"$RUN\"/jobs/{}.sh",
            self.container
                .as_ref()
                .map_or(String::new(), Container::command),
            self.name
        );
        let Some(results) = &self.results else {
            lines.push(launch);
            return lines;
        };
        let slice = self.slices.map_or(String::new(), |(_, _, all)| {
            format!("-\"$SLURM_ARRAY_TASK_ID\"of{all}")
        });
        lines.push(format!("results={results}{slice}"));
        lines.push(
            include_str!("attempt.sh")
                .trim_end()
                .replace("LAUNCH", &launch),
        );
        lines
    }
}

impl Container<'_> {
    fn command(&self) -> String {
        let flag = match self.flag {
            Some(DeviceKind::Rocm) => "--rocm ",
            Some(DeviceKind::Cuda) => "--nv ",
            Some(DeviceKind::Cpu) | None => "",
        };
        format!(
            "apptainer exec {flag}--bind \"$PWD\" --pwd \"$PWD\" docker://{} ",
            shell_quote(self.image)
        )
    }
}

//! The work of the processes that compile: for each model on a device one or more parts of its
//! kernels.

use crate::harness::Harness;
use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    str::FromStr,
};
use testgen_types::{Check, CompileProgress, DeviceKind, Registration};

/// One harness on one kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompileUnit {
    /// Its index among the harnesses of the suite.
    pub(super) harness: usize,
    pub(super) device: DeviceKind,
}

impl CompileUnit {
    /// The file that exists when all kernels of the unit are in the cache `folder`.
    pub(super) fn marker(&self, folder: &Path, harnesses: &[&'static Harness]) -> PathBuf {
        let spec = harnesses[self.harness].spec;
        folder.join("complete").join(format!(
            "{}-{}-{}",
            self.device, spec.architecture, spec.name
        ))
    }
}

/// A part of the kernels of a unit; as text one line, for a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompileJob {
    pub(super) unit: CompileUnit,
    pub(super) part: u64,
    pub(super) parts: u64,
}

impl std::fmt::Display for CompileJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {} {}",
            self.unit.harness, self.unit.device, self.part, self.parts
        )
    }
}

impl FromStr for CompileJob {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [harness, device, part, parts] = fields[..] else {
            return Err(());
        };
        Ok(Self {
            unit: CompileUnit {
                harness: harness.parse().map_err(drop)?,
                device: device.parse().map_err(drop)?,
            },
            part: part.parse().map_err(drop)?,
            parts: parts.parse().map_err(drop)?,
        })
    }
}

/// The jobs that are waiting and the jobs that are finished.
#[derive(Debug)]
pub(super) struct Jobs {
    all: usize,
    waiting: VecDeque<CompileJob>,
    finished: Vec<CompileJob>,
}

impl Jobs {
    /// All parts of all units: as many parts of each that every process has one to begin with.
    pub(super) fn new(units: &[CompileUnit], processes: usize) -> Self {
        // So that no process is idle when there are fewer units than processes.
        let parts = (processes / units.len().max(1)).max(1) as u64;
        let waiting: VecDeque<CompileJob> = units
            .iter()
            .flat_map(|unit| {
                (0..parts)
                    .map(|part| CompileJob {
                        unit: *unit,
                        part,
                        parts,
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        Self {
            all: waiting.len(),
            waiting,
            finished: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> Option<CompileJob> {
        self.waiting.pop_front()
    }

    pub(super) fn finish(&mut self, job: CompileJob) {
        self.finished.push(job);
    }

    pub(super) fn progress(&self) -> CompileProgress {
        CompileProgress {
            done: self.finished.len(),
            all: self.all,
        }
    }

    /// The units of which every part is finished.
    pub(super) fn finished(&self) -> Vec<CompileUnit> {
        self.finished
            .iter()
            .filter(|job| {
                let parts = self
                    .finished
                    .iter()
                    .filter(|other| other.unit == job.unit)
                    .count() as u64;
                // Part 0 represents its unit, which is then listed once.
                job.part == 0 && parts == job.parts
            })
            .map(|job| job.unit)
            .collect()
    }
}

/// The checks of `harness` whose kernels are compiled: the checks of numbers.
pub(super) fn compiled_checks(
    harness: &Harness,
    device: DeviceKind,
) -> impl Iterator<Item = Registration> {
    let checks = harness.required().into_iter();
    checks.filter(move |check| {
        // Neither the check that measures memory nor the one on request, whose tensors are too
        // large for many processes.
        let of_all = check.check != Check::MemoryReleased && !check.check.is_on_request();
        let launches = check.check.is_numeric() && of_all;
        check.device == device && launches && harness.skip_reason(*check).is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::{CompileJob, CompileProgress, CompileUnit, Jobs};
    use testgen_types::DeviceKind;

    fn units(count: usize) -> Vec<CompileUnit> {
        (0..count)
            .map(|harness| CompileUnit {
                harness,
                device: DeviceKind::Rocm,
            })
            .collect()
    }

    #[test]
    fn one_model_is_divided_among_all_processes_and_many_are_not_divided() {
        assert_eq!(Jobs::new(&units(1), 16).waiting.len(), 16);
        assert_eq!(Jobs::new(&units(5), 16).waiting.len(), 15);
        assert_eq!(Jobs::new(&units(99), 16).waiting.len(), 99);
    }

    #[test]
    fn a_unit_is_finished_with_its_last_part() {
        let mut jobs = Jobs::new(&units(2), 4);
        let first = jobs.next().expect("there are four");
        jobs.finish(first);
        assert_eq!(jobs.finished(), []);
        let second = jobs.next().expect("there are four");
        jobs.finish(second);
        assert_eq!(jobs.finished(), [first.unit]);
        assert_eq!(jobs.progress(), CompileProgress { done: 2, all: 4 });
    }

    #[test]
    fn a_job_survives_the_pipe() {
        let job = CompileJob {
            unit: units(7)[6],
            part: 3,
            parts: 5,
        };
        assert_eq!(job.to_string().parse(), Ok(job));
        assert_eq!("1 rocm 2".parse::<CompileJob>(), Err(()));
    }
}

//! The summary of a stress check: how many cases ran, and why the others did not.

use super::{
    super::{
        super::run::{Abort, CheckResult},
        calls::unsupported::UnsupportedCalls,
    },
    limits::Refusal,
    soak::Soaked,
};

/// Cases that are named for each reason.
const NAMED: usize = 8;

/// The cases of a check by what happened to them.
#[derive(Debug, Default)]
pub(super) struct Note {
    computed: usize,
    /// Not run on two streams at once, with their names.
    alone: Vec<String>,
    /// Not run for lack of memory.
    memory: Vec<String>,
    /// Not run because they take too long.
    work: Vec<String>,
    /// Not run because what computes calls does not repeat inputs.
    pub(super) unsupported: UnsupportedCalls,
}

impl Note {
    /// A case that ran; `alone` where two at once do not fit.
    pub(super) fn computed(&mut self, name: &str, alone: Option<Refusal>) {
        self.computed += 1;
        self.alone
            .extend(alone.map(|refusal| described(name, refusal)));
    }

    /// A case that did not run.
    pub(super) fn refused(&mut self, name: &str, refusal: Refusal) {
        let of_reason = match refusal {
            Refusal::Memory { .. } => &mut self.memory,
            Refusal::Work { .. } => &mut self.work,
        };
        of_reason.push(described(name, refusal));
    }

    /// The result of a check without failures: ignored where no case ran.
    pub(super) fn result(&self, soaked: &Soaked) -> CheckResult {
        self.unsupported
            // Refused cases count as well, because the text below has the reasons for them.
            .conclude(self.computed + self.memory.len() + self.work.len())?;
        let parts = [
            self.computed
                .gt(&0)
                .then(|| format!("{} cases", self.computed)),
            soaked.description(),
            listed(
                &self.alone,
                "not on two streams at once, which need more memory",
            ),
            listed(&self.memory, "not run, they need more memory"),
            listed(&self.work, "not run, they take too long on this device"),
        ];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
            + &self.unsupported.to_string();
        if self.computed > 0 {
            Ok(Some(text))
        } else {
            Err(Abort::Skip(text))
        }
    }
}

fn described(name: &str, refusal: Refusal) -> String {
    match refusal {
        Refusal::Memory { needed, free } => {
            format!(
                "{name} needs {}, {} are free for it",
                gibibytes(needed),
                gibibytes(free)
            )
        }
        Refusal::Work { needed, limit } => format!(
            "{name} has {needed:.1e} operations, the limit is {limit:.1e}",
            needed = needed as f64,
            limit = limit as f64
        ),
    }
}

/// The number of cases with a reason, and the names of the first.
fn listed(names: &[String], reason: &str) -> Option<String> {
    let shown = names
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };
    (!names.is_empty()).then(|| format!("{} {reason}: {shown}{more}", names.len()))
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::{Abort, Note, Refusal, Soaked};
    use testgen_types::Operator;

    const LACK: Refusal = Refusal::Memory {
        needed: 3 << 30,
        free: 1 << 30,
    };

    #[test]
    fn cases_that_did_not_run_are_counted_with_the_reason() {
        let mut note = Note::default();
        note.refused("`add` of [9]", LACK);
        note.refused(
            "`sub` of [9]",
            Refusal::Work {
                needed: 4000,
                limit: 1000,
            },
        );
        let text = "1 not run, they need more memory: `add` of [9] needs 3.00 GiB, 1.00 GiB are free for it; 1 not run, they take too \
                    long on this device: `sub` of [9] has 4.0e3 operations, the limit is 1.0e3";
        assert_eq!(
            note.result(&Soaked::new(None)),
            Err(Abort::Skip(text.to_owned()))
        );
        note.computed("`mul` of [9]", None);
        assert_eq!(
            note.result(&Soaked::new(None)),
            Ok(Some(format!("1 cases; {text}")))
        );
        (0..9).for_each(|_| note.refused("`add` of [9]", LACK));
        assert!(
            note.result(&Soaked::new(None))
                .is_ok_and(|text| text.is_some_and(|text| text.contains(", and 2 more")))
        );
    }
    #[test]
    fn engines_that_do_not_repeat_inputs_are_ignored() {
        let mut note = Note::default();
        note.unsupported
            .add(Operator::Add, "inputs are not repeated");
        let text = "`add`: inputs are not repeated";
        assert_eq!(
            note.result(&Soaked::new(None)),
            Err(Abort::Skip(text.to_owned()))
        );
        note.computed("`mul` of [9]", None);
        let text = "1 cases; 1 of `add` not supported: inputs are not repeated";
        assert_eq!(note.result(&Soaked::new(None)), Ok(Some(text.to_owned())));
    }
}

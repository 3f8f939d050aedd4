//! All lines together: as text and as JSON.

use super::row::{Area, DoctorRow, RowStatus};
use serde::Serialize;
use std::fmt;
use testgen_base::text::{Count, one_line};

/// The lines about a machine, sorted by area. `Display` prints them with their causes and fixes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The version of the JSON form; adding a field is compatible, changing one raises it.
    version: u32,
    /// The worst status.
    pub status: RowStatus,
    /// The number of lines of each status.
    counts: DiagnosisCounts,
    /// The lines.
    pub rows: Vec<DoctorRow>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct DiagnosisCounts {
    ok: usize,
    note: usize,
    warning: usize,
    failure: usize,
}

impl Diagnosis {
    /// Sorts the lines by area; within an area they keep their order.
    pub fn new(mut rows: Vec<DoctorRow>) -> Self {
        rows.sort_by_key(|row| row.area);
        for row in &mut rows {
            // Names of devices, values of variables and output of engines are others' text.
            for text in [&mut row.subject, &mut row.evidence]
                .into_iter()
                .chain(&mut row.cause)
                .chain(&mut row.fix)
            {
                *text = one_line(text);
            }
        }
        let mut counts = DiagnosisCounts::default();
        for row in &rows {
            match row.status {
                RowStatus::Ok => counts.ok += 1,
                RowStatus::Note => counts.note += 1,
                RowStatus::Warning => counts.warning += 1,
                RowStatus::Failure => counts.failure += 1,
            }
        }
        let status = rows
            .iter()
            .map(|row| row.status)
            .max()
            .unwrap_or(RowStatus::Ok);
        Self {
            version: 1,
            status,
            counts,
            rows,
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut area: Option<Area> = None;
        for row in &self.rows {
            // The lines are sorted by area, so each heading is printed once.
            if area != Some(row.area) {
                writeln!(
                    f,
                    "{}{}",
                    if area.is_some() { "\n" } else { "" },
                    row.area.heading()
                )?;
                area = Some(row.area);
            }
            writeln!(
                f,
                "  {:<7}  {}: {}",
                row.status.as_str(),
                row.subject,
                row.evidence
            )?;
            for (name, text) in [("cause", &row.cause), ("fix", &row.fix)] {
                if let Some(text) = text {
                    writeln!(f, "           {name}: {text}")?;
                }
            }
        }
        let DiagnosisCounts {
            ok,
            note,
            warning,
            failure,
        } = self.counts;
        let [note, warning, failure] = [(note, "note"), (warning, "warning"), (failure, "failure")]
            .map(|(n, what)| Count(n, what));
        writeln!(f, "\nresult: {ok} ok, {note}, {warning}, {failure}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, Diagnosis, DoctorRow, RowStatus};

    #[test]
    fn lines_are_sorted_by_area_and_counted() {
        let rows = vec![
            DoctorRow::new(
                Area::Computation,
                "torch on rocm:0: sum",
                RowStatus::Failure,
                "0 in place of 1\u{1b}[31m",
            )
            .because("c", "f"),
            DoctorRow::new(Area::System, "container", RowStatus::Ok, "no sign of one"),
            DoctorRow::new(
                Area::Computation,
                "torch on rocm:0: copy",
                RowStatus::Note,
                "not computed",
            ),
        ];
        let diagnosis = Diagnosis::new(rows);
        assert_eq!(diagnosis.status, RowStatus::Failure);
        let expected = "\
system
  ok       container: no sign of one

computation
  failure  torch on rocm:0: sum: 0 in place of 1\\u{1b}[31m
           cause: c
           fix: f
  note     torch on rocm:0: copy: not computed

result: 1 ok, 1 note, 0 warnings, 1 failure
";
        assert_eq!(diagnosis.to_string(), expected);
        assert_eq!(Diagnosis::new(Vec::new()).status, RowStatus::Ok);
    }
}

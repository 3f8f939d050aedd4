//! Plain text tables: aligned columns, two spaces between them, no lines.

use std::fmt;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table that aligns its columns when shown.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings.
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty, control characters are shown as spaces.
    pub fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().map(without_controls).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells
            .chain([self.columns[column].0.chars().count()])
            .max()
            .unwrap_or(0)
    }

    fn write_line<'a>(
        &self,
        f: &mut fmt::Formatter<'_>,
        widths: &[usize],
        cells: impl Iterator<Item = &'a str>,
    ) -> fmt::Result {
        let mut line = String::new();
        for ((cell, width), (_, align)) in cells.zip(widths).zip(&self.columns) {
            let separator = if line.is_empty() { "" } else { "  " };
            line.push_str(separator);
            match align {
                Align::Left => line.push_str(&format!("{cell:<width$}")),
                Align::Right => line.push_str(&format!("{cell:>width$}")),
            }
        }
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| self.width(column))
            .collect();
        self.write_line(f, &widths, self.columns.iter().map(|(heading, _)| *heading))?;
        self.rows
            .iter()
            .try_for_each(|row| self.write_line(f, &widths, row.iter().map(String::as_str)))
    }
}

/// A control character would move the cells after it.
fn without_controls(cell: String) -> String {
    cell.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_do_not_trail() {
        let mut table = Table::new(&[
            ("model", Align::Left),
            ("passed", Align::Right),
            ("ran on", Align::Left),
        ]);
        table.push(["bert".to_owned(), "12".to_owned(), "host\nname".to_owned()]);
        table.push(["distilbert".to_owned(), "3".to_owned()]);
        let expected =
            "model       passed  ran on\nbert            12  host name\ndistilbert       3\n";
        assert_eq!(table.to_string(), expected);
    }
}

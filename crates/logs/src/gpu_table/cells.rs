//! The cells of a line of CSV. Lists of `amd-smi` are quoted, because they contain commas.

/// The cells of a line, without spaces and quotes around them.
pub(super) fn split(line: &str) -> Vec<&str> {
    let (mut cells, mut start, mut is_quoted) = (Vec::new(), 0, false);
    // By bytes: in UTF-8 neither sign is a part of another character.
    for (position, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                cells.push(bare(&line[start..position]));
                start = position + 1;
            }
            _ => {}
        }
    }
    cells.push(bare(&line[start..]));
    cells
}

fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    let inner = cell.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(cell).trim()
}

/// The text of a cell, unless the program does not know it.
pub(super) fn known(cell: &str) -> Option<&str> {
    // `nvidia-smi` writes brackets, the others do not.
    let is_unknown = matches!(cell, "" | "N/A" | "[N/A]" | "[Not Supported]");
    (!is_unknown).then_some(cell)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn commas_of_quoted_lists_do_not_separate() {
        assert_eq!(split("a, b [%],c"), ["a", "b [%]", "c"]);
        assert_eq!(
            split(r#"0,"['N/A', 'N/A']",500"#),
            ["0", "['N/A', 'N/A']", "500"]
        );
        assert_eq!(split(""), [""]);
        assert_eq!(split("\"open, 1"), ["\"open, 1"]);
    }
}

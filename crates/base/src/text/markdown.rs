//! Text in cells of Markdown tables.

/// Text that stays within its cell and is not interpreted as markup.
pub fn markdown_cell(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line
        .replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_within_its_cell() {
        assert_eq!(
            markdown_cell("a | b\n<script> \\"),
            "a \\| b &lt;script> \\\\"
        );
    }
}

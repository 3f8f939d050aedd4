//! A verification as annotations of GitHub Actions: one workflow command per finding, on standard
//! output.

use super::{
    Verification,
    entry::{FindingEntry, entries},
    render::summary_line,
};

/// `::error file=..,line=..,col=..,endColumn=..,title=..::message` for each finding, then the
/// summary.
pub fn render_github(verification: &Verification) -> String {
    let commands = entries(verification).into_iter().map(
        |FindingEntry { path, line, column, end_column, rule, message, help }| {
            let (path, data) = (property(path), data(&format!("{message}\nhelp: {help}")));
            format!("::error file={path},line={line},col={column},endColumn={end_column},title={rule}::{data}\n")
        },
    );
    commands.chain([summary_line(verification)]).collect()
}

/// Escapes characters that would end the command or begin another one, as GitHub's toolkit does.
fn data(text: &str) -> String {
    // Percent first, because the other escapes contain it.
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    // Properties are separated by commas, and two colons end them.
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_begin_a_command() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(property("a:b,c\n"), "a%3Ab%2Cc%0A");
    }
}

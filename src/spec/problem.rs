//! Errors in specs, shown as a compiler would: file, line, column, the line itself and a hint.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::{borrow::Cow, ffi::OsStr, fmt, io::IsTerminal, ops::Range, sync::Arc};
use testgen_base::{
    cli_error::CliError,
    text::{Count, Quoted},
};

/// One error.
#[derive(Debug, Clone)]
pub struct SpecProblem {
    /// The file, as the user would write it.
    pub path: String,
    /// The error, as a lower-case fragment.
    pub message: String,
    /// The text of the file and the range of the error, or `None` for a file that could not be
    /// read.
    pub place: Option<(Arc<str>, Range<usize>)>,
    /// A suggestion or other help.
    pub help: Option<String>,
}

/// All errors in a set of specs; never empty.
#[derive(Debug, thiserror::Error)]
pub struct SpecErrors {
    /// The problems, ordered by file and position.
    pub problems: Vec<SpecProblem>,
}

impl SpecProblem {
    /// A problem of a whole file.
    pub fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
            place: None,
            help: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// By file and place.
    pub(super) fn order(&self) -> (String, usize) {
        (
            self.path.clone(),
            self.place.as_ref().map_or(0, |(_, span)| span.start),
        )
    }

    /// The problem with its line, coloured for a terminal or not.
    pub fn render(&self, coloured: bool) -> String {
        let path = Quoted(&self.path).bare();
        let renderer = if coloured {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let title = Level::ERROR.primary_title(&self.message);
        let group = match &self.place {
            Some((source, span)) => {
                let (source, span) = excerpt(source, span.clone());
                title.element(
                    Snippet::source(source)
                        .path(&path)
                        .annotation(AnnotationKind::Primary.span(span)),
                )
            }
            None => title.element(annotate_snippets::Origin::path(&path)),
        };
        let group = match &self.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        };
        renderer.render(&[group])
    }
}

/// The source and the range to show.
fn excerpt(source: &str, span: Range<usize>) -> (Cow<'_, str>, Range<usize>) {
    // The renderer shortens a long line, except one whose characters have another width than one:
    // there they become `?`.
    const LONG: usize = 400;
    let start = source[..span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let end = source[span.start..]
        .find('\n')
        .map_or(source.len(), |newline| span.start + newline);
    // Short lines are shown as they are, so that their columns stay right.
    if source[start..end].chars().count() <= LONG {
        return (without_c1(source), span);
    }
    let before = narrow(&source[start..span.start]);
    let marked = narrow(&source[span.start..span.end.min(end)]);
    let after = narrow(&source[span.end.min(end)..end]);
    let place = start + before.len();
    let source = [&source[..start], &before, &marked, &after, &source[end..]].concat();
    (
        Cow::Owned(without_c1(&source).into_owned()),
        place..place + marked.len(),
    )
}

/// Without the control characters U+0080 to U+009F, which the renderer would print as they are; it
/// replaces the control characters of ASCII.
fn without_c1(source: &str) -> Cow<'_, str> {
    if source.contains(is_c1) {
        // The character in their place has two bytes as well, so that ranges remain valid.
        Cow::Owned(source.replace(is_c1, "¿"))
    } else {
        Cow::Borrowed(source)
    }
}

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_color = std::env::var_os("NO_COLOR");
        let coloured = is_coloured(std::io::stderr().is_terminal(), no_color.as_deref());
        const SHOWN: usize = 50;
        for problem in self.problems.iter().take(SHOWN) {
            writeln!(f, "{}\n", problem.render(coloured))?;
        }
        // One more than is shown, so that the message never says that there are 0 more.
        if let Some(more) = self.problems.len().checked_sub(SHOWN + 1) {
            writeln!(f, "... and {} more\n", more + 1)?;
        }
        let mut files: Vec<&str> = self
            .problems
            .iter()
            .map(|problem| problem.path.as_str())
            .collect();
        files.sort_unstable();
        files.dedup();
        let (problems, files) = (
            Count(self.problems.len(), "problem"),
            Count(files.len(), "spec"),
        );
        write!(f, "error: {problems} in {files}; nothing was written")
    }
}

impl CliError for SpecErrors {
    fn is_rendered(&self) -> bool {
        true
    }
}

fn is_coloured(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    // no-color.org: an empty variable counts as unset.
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

fn narrow(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii() { c } else { '?' })
        .collect::<String>()
}

fn is_c1(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}')
}

#[cfg(test)]
mod tests {
    use super::{SpecProblem, is_coloured};
    use std::{ffi::OsStr, sync::Arc};

    #[test]
    fn a_terminal_has_colours_unless_they_are_refused() {
        assert!(is_coloured(true, None));
        assert!(is_coloured(true, Some(OsStr::new(""))));
        assert!(!is_coloured(true, Some(OsStr::new("1"))));
        assert!(!is_coloured(false, None));
    }

    #[test]
    fn a_long_line_is_shortened_whatever_its_characters() {
        for character in ["a", "\u{7535}", "\u{301}", "\u{20c24}"] {
            let source: Arc<str> = format!(
                "name: a\ntask: {}\nprecisions: [f32]\n",
                character.repeat(3000)
            )
            .into();
            let start = "name: a\ntask: ".len();
            let place = Some((Arc::clone(&source), start..start + 3000 * character.len()));
            let problem = SpecProblem {
                path: "a.yaml".to_owned(),
                message: "unknown task".to_owned(),
                place,
                help: None,
            };
            let text = problem.render(false);
            assert!(
                text.lines().all(|line| line.chars().count() < 200),
                "{text}"
            );
            assert!(
                text.contains(" --> a.yaml:2:7\n")
                    && text.contains("2 | task: ")
                    && text.contains("^^^"),
                "{text}"
            );
        }
    }
}

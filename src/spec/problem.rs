//! Errors in specs, shown as a compiler would: file, line, column, the line itself and a hint.

use crate::{cli_error::CliError, text::Quoted};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::{borrow::Cow, fmt, io::IsTerminal, ops::Range, sync::Arc};

/// One error.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The file, as the user would write it.
    pub path: String,
    /// The error, as a lower-case fragment.
    pub message: String,
    /// The text of the file and the range of the error; none for a file that could not be read.
    pub place: Option<(Arc<str>, Range<usize>)>,
    /// A suggestion or other help.
    pub help: Option<String>,
}

/// All errors in a set of specs; never empty.
#[derive(Debug, thiserror::Error)]
pub struct SpecErrors {
    /// The problems, ordered by file and position.
    pub problems: Vec<Problem>,
}

impl Problem {
    /// A problem of a whole file.
    pub fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into(), place: None, help: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// By file and place.
    pub(super) fn order(&self) -> (String, usize) {
        (self.path.clone(), self.place.as_ref().map_or(0, |(_, span)| span.start))
    }

    /// The problem with its line, coloured for a terminal or not.
    pub fn render(&self, coloured: bool) -> String {
        let path = Quoted(&self.path).bare();
        let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
        let title = Level::ERROR.primary_title(&self.message);
        let group = match &self.place {
            Some((source, span)) => {
                let kind = AnnotationKind::Primary.span(span.clone());
                title.element(Snippet::source(without_c1(source)).path(&path).annotation(kind))
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

/// Without the control characters U+0080 to U+009F, which the renderer would print as they are; it replaces those of ASCII. The
/// character in their place has two bytes as well, so that ranges remain valid.
fn without_c1(source: &str) -> Cow<'_, str> {
    let is_c1 = |c: char| matches!(c, '\u{80}'..='\u{9f}');
    if source.contains(is_c1) { Cow::Owned(source.replace(is_c1, "¿")) } else { Cow::Borrowed(source) }
}

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        const SHOWN: usize = 50;
        for problem in self.problems.iter().take(SHOWN) {
            writeln!(f, "{}\n", problem.render(coloured))?;
        }
        if let Some(more) = self.problems.len().checked_sub(SHOWN + 1) {
            writeln!(f, "... and {} more\n", more + 1)?;
        }
        let mut files: Vec<&str> = self.problems.iter().map(|problem| problem.path.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let (problems, files) = (Count(self.problems.len(), "problem"), Count(files.len(), "spec"));
        write!(f, "error: {problems} in {files}; nothing was written")
    }
}

impl CliError for SpecErrors {
    fn is_rendered(&self) -> bool {
        true
    }
}

/// A number with its noun.
pub(crate) struct Count(pub(crate) usize, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

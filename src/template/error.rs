//! Errors of templates.

use std::path::PathBuf;
use testgen_base::{cli_error::CliError, text::limited};

/// An error in a template, or in its rendered text.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A file or directory of `--templates` cannot be used.
    #[error("cannot read the templates in `{}`: {reason}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// There is no such template.
    #[error("there is no template `{template}`")]
    Missing {
        /// Its name.
        template: String,
    },
    /// Tera cannot parse or render a template; the report names template and line.
    #[error("{report}")]
    Tera {
        /// Tera's own report.
        report: String,
    },
    /// The rendered text is not valid Rust.
    #[error(transparent)]
    NoRust(Box<NoRust>),
}

/// The rendered text is not valid Rust.
#[derive(Debug, thiserror::Error)]
#[error("template `{template}` does not render valid Rust for `{subject}`: {message}\n{excerpt}")]
pub struct NoRust {
    /// The template.
    pub template: String,
    /// The model or file that it was rendered for.
    pub subject: String,
    /// The parser's message.
    pub message: String,
    /// The rendered lines around the error.
    pub excerpt: String,
    /// The template and line that the wrong line most likely comes from.
    pub origin: Option<(String, usize)>,
}

impl TemplateError {
    pub(super) fn from_tera(error: &tera::Error) -> Self {
        Self::Tera {
            report: limited(&error.to_string()),
        }
    }
}

impl CliError for TemplateError {
    fn is_rendered(&self) -> bool {
        // Tera's reports are complete: they begin with `error:` and show the line.
        matches!(self, Self::Tera { report } if report.starts_with("error: "))
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => Some(
                "`--templates` names a directory laid out like `templates/` of testgen".to_owned(),
            ),
            Self::Missing { template } => {
                Some(format!("add `{template}` to the directory of templates"))
            }
            Self::Tera { .. } => None,
            Self::NoRust(no_rust) => no_rust.origin.as_ref().map(|(template, line)| {
                format!("the line most likely comes from `{template}`, line {line}")
            }),
        }
    }
}

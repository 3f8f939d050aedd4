//! What can be wrong with a template.

use crate::Failure;
use std::path::PathBuf;

/// What is wrong with a template, or with what it renders.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A file or directory of `--templates` cannot be used.
    #[error("cannot read the templates in `{}`: {reason}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// There is no such template.
    #[error("there is no template `{template}`")]
    Missing {
        /// Its name.
        template: String,
    },
    /// Tera cannot parse or fill in a template; the report names template and line.
    #[error("a template is wrong\n{report}")]
    Tera {
        /// Tera's own report.
        report: String,
    },
    /// The rendered text is no Rust.
    #[error("template `{template}` renders no valid Rust for `{subject}`: {message}\n{excerpt}")]
    NoRust {
        /// The template.
        template: String,
        /// The model or file that it was rendered for.
        subject: String,
        /// What the parser says.
        message: String,
        /// The rendered lines around the error.
        excerpt: String,
        /// The template and line that the wrong line most likely comes from.
        origin: Option<(String, usize)>,
    },
}

impl TemplateError {
    pub(super) fn from_tera(error: &tera::Error) -> Self {
        Self::Tera { report: error.to_string() }
    }
}

impl Failure for TemplateError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => {
                Some("`--templates` names a directory laid out like `templates/` of testgen".to_owned())
            }
            Self::Missing { template } => Some(format!("add `{template}` to the directory of templates")),
            Self::Tera { .. } => None,
            Self::NoRust { origin, .. } => origin
                .as_ref()
                .map(|(template, line)| format!("the line most likely comes from `{template}`, line {line}")),
        }
    }
}

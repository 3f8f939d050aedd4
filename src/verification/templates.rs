//! Verifies the templates: each is rendered for every kind of spec, and the rules are applied to
//! the results. Findings refer to the line of the template that the wrong line most likely comes
//! from.

use super::{IssueKind, ProjectIssue, Verification, synthetic, template_variables};
use crate::{
    generate::{HarnessExpectation, SuiteLayout},
    spec::LoadedSpec,
    template::Templates,
};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use testgen_base::cli_error::Error;
use testgen_types::Architecture;
use testgen_verify::{Finding, HarnessSource, verify_all};

/// A rendered harness.
struct Rendered {
    /// The template that it was rendered from.
    template: String,
    /// A short description of the spec that it was rendered for.
    subject: String,
    harness: HarnessExpectation,
    text: String,
    /// Whether the spec is one of the project.
    is_own: bool,
}

/// The harnesses without a finding that were rendered for the specs of the project, by their path
/// in the suite.
pub(super) type Verified = BTreeMap<String, String>;

/// Renders every template for `loaded` and for synthetic specs, and adds the findings of the rules.
pub(super) fn verify(
    specs: &Path,
    loaded: &[LoadedSpec],
    layout: &SuiteLayout,
    templates: &Templates,
    into: &mut Verification,
) -> Result<Verified, Error> {
    let synthetic: Vec<LoadedSpec> = Architecture::ALL
        .iter()
        .flat_map(|&architecture| synthetic::specs(specs, architecture))
        .collect();
    into.issues
        .extend(variables(&synthetic, layout, templates)?);
    let rendered = render(loaded, &synthetic, layout, templates, into)?;
    // A template with one mistake fails in every rendering.
    into.issues = first_of_each(std::mem::take(&mut into.issues), issue_key);
    let questions: Vec<_> = rendered.iter().map(Rendered::question).collect();
    let answers = verify_all(&questions);
    let verified = clean(&rendered, &answers);
    add_findings(&rendered, answers, templates, into);
    Ok(verified)
}

/// The harness of every spec, the specs of the project first; the others become issues.
fn render(
    own: &[LoadedSpec],
    synthetic: &[LoadedSpec],
    layout: &SuiteLayout,
    templates: &Templates,
    into: &mut Verification,
) -> Result<Vec<Rendered>, Error> {
    // The project's specs first: of equal findings the first is kept, and its model is a known one.
    let all: Vec<&LoadedSpec> = own.iter().chain(synthetic).collect();
    let texts: Vec<_> = all
        .par_iter()
        .map(|loaded| HarnessExpectation::render(loaded, layout, templates))
        .collect();
    into.renders += all.len();
    let mut rendered = Vec::new();
    for (index, (loaded, text)) in all.into_iter().zip(texts).enumerate() {
        let template = Templates::for_architecture(loaded.spec.architecture);
        let subject = synthetic::describe(&loaded.spec);
        match text {
            Ok(text) => rendered.push(Rendered {
                template,
                subject,
                harness: HarnessExpectation::new(loaded, layout)?,
                text,
                // `all` begins with the specs of the project.
                is_own: index < own.len(),
            }),
            Err(error) => into
                .issues
                .push(unrendered(templates, &template, &subject, &error)),
        }
    }
    Ok(rendered)
}

/// Two issues with the same key have one reason.
fn issue_key(issue: &ProjectIssue) -> (String, usize, String) {
    // The message of a rendering that fails names the model.
    let message = if issue.kind == IssueKind::TemplateRenders {
        String::new()
    } else {
        issue.message.clone()
    };
    (issue.path.clone(), issue.line, message)
}

/// Adds the findings at their positions in the templates, and the texts that they refer to.
fn add_findings(
    rendered: &[Rendered],
    answers: Vec<Vec<Finding>>,
    templates: &Templates,
    into: &mut Verification,
) {
    let answers = rendered.iter().zip(answers);
    let placed = answers.flat_map(|(rendered, findings)| {
        findings
            .into_iter()
            .map(|finding| rendered.place(finding, templates))
            .collect::<Vec<_>>()
    });
    let findings = first_of_each(placed, |(finding, _)| {
        (
            finding.path.clone(),
            finding.line,
            finding.rule,
            finding.message.clone(),
        )
    });
    for (finding, text) in findings {
        into.texts.insert(finding.path.clone(), text);
        into.findings.push(finding);
    }
}

fn clean(rendered: &[Rendered], answers: &[Vec<Finding>]) -> Verified {
    let clean = rendered
        .iter()
        .zip(answers)
        // The suite has no files of synthetic specs.
        .filter(|(rendered, findings)| rendered.is_own && findings.is_empty());
    clean
        .map(|(rendered, _)| (rendered.harness.path.clone(), rendered.text.clone()))
        .collect()
}

/// A fault of a template appears in all of its renderings; it is reported once.
fn first_of_each<T, K: Ord>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.into_iter()
        .filter(|one| seen.insert(key(one)))
        .collect()
}

/// The variables of each architecture's template.
fn variables(
    synthetic: &[LoadedSpec],
    layout: &SuiteLayout,
    templates: &Templates,
) -> Result<Vec<ProjectIssue>, Error> {
    let mut issues = Vec::new();
    for &architecture in Architecture::ALL {
        let Some(spec) = synthetic
            .iter()
            .find(|loaded| loaded.spec.architecture == architecture)
        else {
            continue;
        };
        issues.extend(template_variables::issues(
            templates,
            &Templates::for_architecture(architecture),
            &HarnessExpectation::variables(spec, layout)?,
        ));
    }
    Ok(issues)
}

/// A template that does not render, at the line that Tera or the parser reports.
fn unrendered(templates: &Templates, template: &str, subject: &str, error: &Error) -> ProjectIssue {
    // Tera's report has the place itself. For a text that is not Rust the help has it.
    let report = error.to_string() + &error.help().unwrap_or_default();
    let (name, line) =
        named_place(templates, template, &report).unwrap_or((template.to_owned(), 1));
    let issue = ProjectIssue::does_not_render(templates.shown(&name), line, error);
    let message = issue
        .message
        .trim()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    ProjectIssue {
        message,
        help: format!("{}; it shows in the rendering for {subject}", issue.help),
        ..issue
    }
}

/// The position in a report: `name:line:column` of Tera, or "`name`, line 3" of the formatter.
fn named_place(templates: &Templates, template: &str, report: &str) -> Option<(String, usize)> {
    templates.reachable(template).into_iter().find_map(|name| {
        let mut separators = [":", "`, line "].into_iter();
        let line = separators.find_map(|separator| {
            let (_, rest) = report.split_once(&format!("{name}{separator}"))?;
            leading_number(rest)
        });
        line.map(|line| (name, line))
    })
}

impl Rendered {
    fn question(&self) -> (HarnessSource<'_>, Option<&testgen_verify::Expectation>) {
        (
            HarnessSource {
                path: &self.template,
                text: &self.text,
            },
            Some(&self.harness.expectation),
        )
    }

    /// The finding at its position in the template, and the template's text.
    fn place(&self, finding: Finding, templates: &Templates) -> (Finding, String) {
        let (name, line) = self
            .origin(&finding, templates)
            .unwrap_or((self.template.clone(), 1));
        let help = format!(
            "{}; it shows in the rendering for {}",
            finding.help, self.subject
        );
        let finding = Finding {
            path: templates.shown(&name),
            line,
            // The column of a rendered line means nothing in the template's.
            column: 1,
            end_column: 2,
            help,
            ..finding
        };
        (finding, templates.source(&name).to_owned())
    }

    fn origin(&self, finding: &Finding, templates: &Templates) -> Option<(String, usize)> {
        // A missing function has no rendered line that could be traced back.
        if let Some(missing) = finding.message.strip_prefix("the file has no function `") {
            return Some(self.where_it_belongs(missing, templates));
        }
        let lines: Vec<&str> = self.text.lines().take(finding.line).collect();
        let function = lines
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("pub fn ")?.split('(').next());
        // Several templates may have the line; the head of its function is different in each.
        let near = function
            .map(|name| format!("fn {name}"))
            .unwrap_or_default();
        templates.origin(&self.template, lines.last()?, &near)
    }

    /// The line of a template where the function that `missing` begins with should be: the line
    /// that names it, else the line of the other init functions.
    fn where_it_belongs(&self, missing: &str, templates: &Templates) -> (String, usize) {
        let name = missing.split('`').next().unwrap_or_default();
        let reachable = templates.reachable(&self.template);
        [name, "init_cuda", "init_cpu"]
            .into_iter()
            .find_map(|word| {
                reachable.iter().find_map(|template| {
                    let line = templates
                        .source(template)
                        .lines()
                        .position(|line| line.contains(word))?;
                    Some((template.clone(), line + 1))
                })
            })
            .unwrap_or((self.template.clone(), 1))
    }
}

fn leading_number(text: &str) -> Option<usize> {
    text.chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .ok()
}

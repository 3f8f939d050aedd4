//! The templates: each is rendered for every kind of spec, and what comes out is verified.

use super::{Gap, Verification, synthetic};
use crate::{
    Error,
    generate::{Harness, Layout},
    spec::LoadedSpec,
    template::Templates,
};
use std::{collections::BTreeSet, path::Path};
use testgen_contract::Architecture;
use testgen_verify::{Finding, Source, verify_all};

/// A rendered harness, or why there is none.
struct Rendered {
    /// What findings name: the template, and the spec that it was rendered for.
    path: String,
    harness: Harness,
    text: String,
}

/// Renders every template for `loaded` and for specs that could be, and adds what the rules find.
pub(super) fn verify(
    specs: &Path,
    loaded: &[LoadedSpec],
    layout: &Layout,
    templates: &Templates,
    into: &mut Verification,
) -> Result<(), Error> {
    let synthetic = Architecture::ALL.iter().flat_map(|&architecture| synthetic::specs(specs, architecture));
    let mut rendered = Vec::new();
    for loaded in loaded.iter().cloned().chain(synthetic) {
        into.renders += 1;
        let path = format!("{} ({})", Templates::of(loaded.spec.architecture), synthetic::describe(&loaded.spec));
        match Harness::render(&loaded, layout, templates) {
            Ok(text) => rendered.push(Rendered { path, harness: Harness::new(&loaded, layout)?, text }),
            Err(error) => into.gaps.push(Gap::does_not_render(path, &error)),
        }
    }
    let questions: Vec<_> = rendered.iter().map(Rendered::question).collect();
    let findings = verify_all(&questions).into_iter().flatten();
    into.findings.extend(first_of_each(findings));
    for Rendered { path, text, .. } in rendered {
        if into.findings.iter().any(|finding| finding.path == path) {
            into.texts.insert(path, text);
        }
    }
    Ok(())
}

impl Rendered {
    fn question(&self) -> (Source<'_>, Option<&testgen_verify::Expectation>) {
        (Source { path: &self.path, text: &self.text }, Some(&self.harness.expectation))
    }
}

/// One broken rule of a template shows in everything that it renders; once is enough.
fn first_of_each(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let template = |finding: &Finding| finding.path.split(' ').next().unwrap_or_default().to_owned();
    findings.filter(|finding| seen.insert((template(finding), finding.rule, finding.message.clone()))).collect()
}

//! A harness imports everything from `testgen_runtime`, and does not redefine any of its names.
//!
//! The mechanism is in the runtime, once; a harness with its own `open`, `load` or `Endpoint` looks
//! the same and proves nothing. So: `use` names only `testgen_runtime` (renaming with `as` is
//! fine), no path begins with `std`, `crate` or another crate, every used name is defined, and
//! nothing in the file (function, static, macro, module, type, renamed import) has a name of the
//! runtime or of the language's prelude. Local variables may: the verifier follows them. A helper
//! is defined once.
//!
//! Rename the conflicting item, and call the runtime's function.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    names::item_name,
    rule_id::RuleId,
    vocabulary::{self, RUNTIME},
};
use std::collections::BTreeSet;
use syn::{
    File, Ident, Item, ItemUse, Path, UseTree, ext::IdentExt, spanned::Spanned, visit::Visit,
};

/// Checks every import, item and path of the file.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let mut visitor = ImportVisitor {
        harness,
        diagnostics: Vec::new(),
        depth: 0,
    };
    visitor.visit_file(harness.file);
    // Only the interpreter knows the local variables, so it finds the names that nothing defines.
    let undefined = harness
        .interpretations()
        .flat_map(|(_, interpretation)| &interpretation.unsupported)
        .filter(|(rule, _)| *rule == RuleId::Imports);
    visitor
        .diagnostics
        .extend(undefined.map(|(_, diagnostic)| diagnostic.clone()));
    visitor.diagnostics.extend(functions_twice(harness.file));
    visitor.diagnostics
}

/// The second of two functions with one name.
fn functions_twice(file: &File) -> Vec<Diagnostic> {
    let mut names = BTreeSet::new();
    // The verifier would follow one of the two.
    let second = file.items.iter().filter_map(|item| match item {
        Item::Fn(item) => Some(item.sig.ident.unraw()).filter(|name| !names.insert(name.clone())),
        _ => None,
    });
    // Functions that the suite calls are reported by the rules that require them.
    let second = second.filter(|name| !vocabulary::is_entry(&name.to_string()));
    second
        .map(|name| {
            let message = format!("`{name}` is defined a second time");
            Diagnostic::at(&name, message, "remove one of the two, or rename it")
        })
        .collect()
}

struct ImportVisitor<'h, 'a> {
    harness: &'h ParsedHarness<'a>,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
}

impl ImportVisitor<'_, '_> {
    fn tree(&mut self, tree: &UseTree, prefix: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.unraw().to_string());
                self.tree(&path.tree, prefix);
                prefix.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, prefix)),
            UseTree::Name(name) => self.leaf(&name.ident, &name.ident, prefix),
            UseTree::Rename(rename) => self.leaf(&rename.ident, &rename.rename, prefix),
            UseTree::Glob(glob) => {
                self.origin(glob, prefix.first().map(String::as_str).unwrap_or_default());
                self.offered(glob, prefix.get(1));
            }
        }
    }

    fn leaf(&mut self, name: &Ident, local: &Ident, prefix: &[String]) {
        let (name, local) = (name.unraw().to_string(), local.unraw());
        let root = prefix.first().unwrap_or(&name);
        self.origin(&local, root);
        if root != RUNTIME {
            return;
        }
        self.offered(
            &local,
            prefix
                .get(1)
                // The leaf is the first name below the runtime; `self` is the runtime itself.
                .or(Some(&name).filter(|name| prefix.len() == 1 && *name != "self")),
        );
        // The original name is the runtime's meaning; only a renamed import can take another's.
        if local != name && vocabulary::is_protected(&local.to_string()) {
            let message = format!(
                "`{name}` is imported under the name `{local}`, which means something else"
            );
            self.diagnostics
                .push(Diagnostic::at(&local, message, "choose an unused name"));
        }
    }

    /// The runtime exports more than a harness may call: ending the process, for instance.
    fn offered(&mut self, place: &impl Spanned, name: Option<&String>) {
        if let Some(name) = name.filter(|name| !vocabulary::is_runtime(name)) {
            let message = format!("`testgen_runtime` offers harnesses nothing called `{name}`");
            self.diagnostics.push(Diagnostic::at(
                place,
                message,
                "use a function or type that the templates use",
            ));
        }
    }

    fn origin(&mut self, place: &impl Spanned, root: &str) {
        if root != RUNTIME {
            let message = format!("`{root}` is imported; a harness imports only `testgen_runtime`");
            self.diagnostics.push(Diagnostic::at(
                place,
                message,
                "use what `testgen_runtime` offers",
            ));
        }
    }
}

impl<'ast> Visit<'ast> for ImportVisitor<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Some(name) = item_name(item).filter(|name| vocabulary::is_protected(name)) {
            let message = format!(
                "this item takes the name `{name}`, which belongs to the runtime or the language"
            );
            self.diagnostics.push(Diagnostic::at(
                item,
                message,
                "rename it, and call what the runtime offers",
            ));
        }
        self.depth += 1;
        // The depth separates an import at the top from one within a function, whose names end with
        // it.
        syn::visit::visit_item(self, item);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
        // The import is an item itself and counts as one level.
        if self.depth > 1 {
            let help = "move it to the top of the file";
            self.diagnostics.push(Diagnostic::at(
                item,
                "an import inside of a function or module",
                help,
            ));
        }
    }

    // Paths in attributes are not code: `forbidden` decides about attributes.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(name) = self.harness.names.beyond_vocabulary(path) {
            self.offered(path, Some(&name));
        }
        if self.harness.names.is_foreign(path) {
            let segments = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string());
            let name = segments.collect::<Vec<_>>().join("::");
            let message =
                format!("`{name}` comes from elsewhere; a harness uses only `testgen_runtime`");
            self.diagnostics.push(Diagnostic::at(
                path,
                message,
                "use what `testgen_runtime` offers",
            ));
        }
        syn::visit::visit_path(self, path);
    }
}

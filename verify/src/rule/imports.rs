//! A harness takes everything from `testgen_runtime`, and gives no name of it another meaning.
//!
//! The mechanism lives in the runtime, once; a harness that brings its own `open`, `load` or `Endpoint` looks the same and
//! proves nothing. So: `use` names only `testgen_runtime` (renaming with `as` is fine), no path begins with `std`,
//! `crate` or another crate, every name that is used is defined, and nothing in the file (function, static, macro, module,
//! type, renamed import) bears a name of the runtime or of the language's prelude. Local variables may: the verifier
//! follows them.
//!
//! Rename what collides, and call the runtime's function.

use crate::{
    RuleId,
    finding::Remark,
    harness::Harness,
    names::item_name,
    vocabulary::{self, RUNTIME},
};
use syn::{Ident, Item, ItemUse, Path, UseTree, ext::IdentExt, spanned::Spanned, visit::Visit};

/// Looks at every import, item and path of the file.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let mut visitor = Visitor { harness, remarks: Vec::new(), depth: 0 };
    visitor.visit_file(harness.file);
    let undefined =
        harness.readings().flat_map(|(_, reading)| &reading.troubles).filter(|(rule, _)| *rule == RuleId::Imports);
    visitor.remarks.extend(undefined.map(|(_, remark)| remark.clone()));
    visitor.remarks
}

struct Visitor<'h, 'a> {
    harness: &'h Harness<'a>,
    remarks: Vec<Remark>,
    depth: usize,
}

impl Visitor<'_, '_> {
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
        self.offered(&local, prefix.get(1).or(Some(&name).filter(|name| prefix.len() == 1 && *name != "self")));
        if local != name && vocabulary::is_protected(&local.to_string()) {
            let message = format!("`{name}` is imported under the name `{local}`, which means something else");
            self.remarks.push(Remark::at(&local, message, "give it a name of its own"));
        }
    }

    /// The runtime has more than a harness may call: ending the process, for instance.
    fn offered(&mut self, place: &impl Spanned, name: Option<&String>) {
        if let Some(name) = name.filter(|name| !vocabulary::is_runtime(name)) {
            let message = format!("`testgen_runtime` offers harnesses nothing called `{name}`");
            self.remarks.push(Remark::at(place, message, "use a function or type that the templates use"));
        }
    }

    fn origin(&mut self, place: &impl Spanned, root: &str) {
        if root != RUNTIME {
            let message = format!("`{root}` is imported; a harness imports only `testgen_runtime`");
            self.remarks.push(Remark::at(place, message, "use what `testgen_runtime` offers"));
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Some(name) = item_name(item).filter(|name| vocabulary::is_protected(name)) {
            let message = format!("this item takes the name `{name}`, which belongs to the runtime or the language");
            self.remarks.push(Remark::at(item, message, "rename it, and call what the runtime offers"));
        }
        self.depth += 1;
        syn::visit::visit_item(self, item);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
        if self.depth > 1 {
            let help = "move it to the top of the file";
            self.remarks.push(Remark::at(item, "an import inside of a function or module", help));
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(name) = self.harness.names.beyond_vocabulary(path) {
            self.offered(path, Some(&name));
        }
        if self.harness.names.is_foreign(path) {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string());
            let name = segments.collect::<Vec<_>>().join("::");
            let message = format!("`{name}` comes from elsewhere; a harness uses only `testgen_runtime`");
            self.remarks.push(Remark::at(path, message, "use what `testgen_runtime` offers"));
        }
        syn::visit::visit_path(self, path);
    }
}

//! The imports of a module: the used items of other modules, with their lines.

use super::{
    scope::{Import, Scopes, Target, attributes, imports},
    tree::{ModuleId, ModuleTree, compiled_for_tests},
};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{Attribute, Item, ItemUse, Macro, Path, VisRestricted, Visibility, visit::Visit};

/// One use of an item that another module defines.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) from: ModuleId,
    pub(super) to: ModuleId,
    pub(super) line: usize,
    /// As it is written in source.
    pub(super) name: String,
}

/// The imports of the code of a crate.
#[derive(Default)]
pub(super) struct Imports {
    pub(super) edges: Vec<Edge>,
    /// Uses of the crate's own public names where an import from the defining module is possible,
    /// `to` being the root.
    pub(super) through_root: Vec<Edge>,
    /// Uses of something in the crate whose definition was not found, `to` being the module that
    /// uses it: without the definition, a cycle through it would not be seen.
    pub(super) unresolved: Vec<Edge>,
}

/// All uses between the modules of a crate.
///
/// A use counts for the module that defines the item, whichever re-export it goes through. A
/// re-export alone is not a use, and neither is the declaration of a module. A method called on a
/// value is not seen.
pub(super) fn imports_of(tree: &ModuleTree) -> Imports {
    let scopes = Scopes::new(tree);
    let mut found = Imports::default();
    for module in 0..tree.modules.len() {
        let mut uses = Uses {
            module,
            scopes: &scopes,
            found: &mut found,
        };
        tree.modules[module]
            .items
            .iter()
            .for_each(|item| uses.visit_item(item));
    }
    found
}

struct Uses<'t> {
    module: ModuleId,
    scopes: &'t Scopes<'t>,
    found: &'t mut Imports,
}

impl Uses<'_> {
    fn add_path(&mut self, path: &[String], span: Span) {
        if self.scopes.leads_through_root(self.module, path) {
            let (line, name) = (span.start().line, path.join("::"));
            self.found.through_root.push(Edge {
                from: self.module,
                to: ModuleTree::ROOT,
                line,
                name,
            });
        }
        let targets = self.scopes.resolve(self.module, path);
        if targets.is_empty() && self.scopes.leads_into_crate(self.module, path) {
            let (line, name) = (span.start().line, path.join("::"));
            self.found.unresolved.push(Edge {
                from: self.module,
                to: self.module,
                line,
                name,
            });
        }
        for target in targets {
            if let Target::Type(to) | Target::Value(to) = target {
                self.add(to, path.join("::"), span);
            }
        }
    }

    /// Importing a module is not a use of what it contains, nor of a function that has the same
    /// name; importing everything in it is.
    fn add_import(&mut self, import: &Import, span: Span) {
        let targets = self.scopes.resolve(self.module, &import.path);
        let modules = targets.iter().filter_map(|target| match target {
            Target::Module(module) => Some(*module),
            Target::Type(_) | Target::Value(_) => None,
        });
        let modules: Vec<_> = modules.collect();
        if modules.is_empty() {
            self.add_path(&import.path, span);
        } else if import.name.is_empty() {
            modules.into_iter().for_each(|module| {
                self.add(module, format!("{}::*", import.path.join("::")), span)
            });
        }
    }

    fn add(&mut self, to: ModuleId, name: String, span: Span) {
        if to != self.module {
            self.found.edges.push(Edge {
                from: self.module,
                to,
                line: span.start().line,
                name,
            });
        }
    }

    /// Paths in the arguments or in the definition of a macro, which are not parsed: identifiers
    /// joined by `::`. One that a variable continues (`rule::$name`) may use everything in its
    /// module.
    fn add_tokens(&mut self, tokens: &TokenStream) {
        let mut path: Option<(Vec<String>, Span)> = None;
        let mut colons = 0;
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(name) => match &mut path {
                    Some((names, _)) if colons == 2 => names.push(name.to_string()),
                    _ => {
                        self.add_found(path.take());
                        path = Some((vec![name.to_string()], name.span()));
                    }
                },
                TokenTree::Punct(mark) if mark.as_char() == ':' && path.is_some() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == '$' && colons == 2 => {
                    let (path, span) = path.take().expect("colons follow a path");
                    self.add_import(
                        &Import {
                            name: String::new(),
                            path,
                        },
                        span,
                    );
                }
                TokenTree::Group(group) => {
                    self.add_found(path.take());
                    self.add_tokens(&group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.add_found(path.take()),
            }
            colons = 0;
        }
        self.add_found(path);
    }

    fn add_found(&mut self, path: Option<(Vec<String>, Span)>) {
        if let Some((path, span)) = path {
            self.add_path(&path, span);
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !compiled_for_tests(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !compiled_for_tests(&function.attrs) {
            syn::visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            let line = item.use_token.span;
            imports(item)
                .iter()
                .for_each(|import| self.add_import(import, line));
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<_> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if path.leading_colon.is_none() {
            self.add_path(&names, path.segments[0].ident.span());
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        syn::visit::visit_macro(self, called);
        let name = called.path.segments.last().expect("a path has a segment");
        if called.path.segments.len() == 1
            && let Some(to) = self
                .scopes
                .resolve_macro(self.module, &name.ident.to_string())
        {
            self.add(to, format!("{}!", name.ident), name.ident.span());
        }
        self.add_tokens(&called.tokens);
    }

    /// serde's attributes name functions and modules in strings.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Ok(list) = attribute.meta.require_list() else {
            return;
        };
        if !list.path.is_ident("serde") {
            return;
        }
        for token in list.tokens.clone() {
            let TokenTree::Literal(literal) = token else {
                continue;
            };
            let text = literal.to_string();
            if let Ok(path) = syn::parse_str::<Path>(text.trim_matches('"')) {
                let names: Vec<_> = path
                    .segments
                    .iter()
                    .map(|segment| segment.ident.to_string())
                    .collect();
                self.add_path(&names, literal.span());
            }
        }
    }

    /// `pub(in crate::a)` grants access and uses nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}

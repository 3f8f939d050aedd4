//! Names in the scope of each module, and the module that defines the target of a path, through any
//! re-exports.

use super::tree::{ModuleId, ModuleTree, compiled_for_tests};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::HashMap;
use syn::{Item, ItemMacro, ItemUse, UseTree, visit::Visit};

/// The target of a path within the crate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Type(ModuleId),
    /// A function, constant or macro: nothing is below it, unlike a type with variants or
    /// functions.
    Value(ModuleId),
    Module(ModuleId),
}

/// One name that a `use` brings into scope.
#[derive(Clone)]
pub(super) struct Import {
    /// Empty for a glob.
    pub(super) name: String,
    pub(super) path: Vec<String>,
}

enum Binding {
    Type,
    Value,
    Module(ModuleId),
    Import(Vec<String>),
}

#[derive(Default)]
struct Scope {
    names: HashMap<String, Vec<Binding>>,
    globs: Vec<Vec<String>>,
    macros: Vec<String>,
}

/// The scopes of all modules of a crate.
pub(super) struct Scopes<'t> {
    tree: &'t ModuleTree,
    scopes: Vec<Scope>,
}

/// Keywords that precede the name of an item.
const KEYWORDS: &[&str] = &[
    "const", "enum", "fn", "static", "struct", "trait", "type", "union",
];

/// Re-exports of re-exports are followed this far, so that those that refer to each other end.
const LONGEST_CHAIN: usize = 16;

impl<'t> Scopes<'t> {
    pub(super) fn new(tree: &'t ModuleTree) -> Self {
        let scopes = (0..tree.modules.len())
            .map(|module| Scope::new(tree, module))
            .collect();
        Self { tree, scopes }
    }

    /// Everything in the crate that `path`, written in `module`, leads to: several where a name is
    /// a type and a function.
    pub(super) fn resolve(&self, module: ModuleId, path: &[String]) -> Vec<Target> {
        self.follow(module, path, LONGEST_CHAIN)
    }

    /// Whether `path`, written in `module`, leads through a name that the crate's root imports: one
    /// of its public names.
    pub(super) fn leads_through_root(&self, module: ModuleId, path: &[String]) -> bool {
        let in_root = match path {
            [first, name, ..] if first == "crate" => name,
            [first, name, ..]
                if first == "super"
                    && self.tree.modules[module].parent == Some(ModuleTree::ROOT) =>
            {
                name
            }
            _ => return false,
        };
        let bindings = self.scopes[ModuleTree::ROOT].names.get(in_root);
        bindings.is_some_and(|all| {
            all.iter()
                .all(|binding| matches!(binding, Binding::Import(_)))
        })
    }

    /// Whether `path`, written in `module`, starts at a module of the crate, so that the crate must
    /// define what it leads to.
    pub(super) fn leads_into_crate(&self, module: ModuleId, path: &[String]) -> bool {
        self.resolve(module, &path[..1])
            .iter()
            .any(|start| matches!(start, Target::Module(_)))
    }

    /// The module that defines the macro `name` for `module`: through scope, or textually in a
    /// parent.
    pub(super) fn resolve_macro(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        self.tree
            .ancestors(module)
            .find(|outer| self.scopes[*outer].macros.iter().any(|known| known == name))
    }

    fn follow(&self, module: ModuleId, path: &[String], left: usize) -> Vec<Target> {
        let Some((first, rest)) = path.split_first().filter(|_| left > 0) else {
            return Vec::new();
        };
        let starts = match first.as_str() {
            "crate" => vec![Target::Module(ModuleTree::ROOT)],
            "self" => vec![Target::Module(module)],
            "super" => self.tree.modules[module]
                .parent
                .map(Target::Module)
                .into_iter()
                .collect(),
            name => self.lookup(module, name, left),
        };
        starts
            .into_iter()
            .flat_map(|start| self.descend(start, rest, left))
            .collect()
    }

    fn descend(&self, start: Target, rest: &[String], left: usize) -> Vec<Target> {
        let Some((next, rest)) = rest.split_first() else {
            return vec![start];
        };
        let module = match start {
            Target::Module(module) => module,
            Target::Type(_) => return vec![start],
            Target::Value(_) => return Vec::new(),
        };
        if next == "super" {
            let parent = self.tree.modules[module].parent.map(Target::Module);
            return parent
                .into_iter()
                .flat_map(|parent| self.descend(parent, rest, left))
                .collect();
        }
        self.lookup(module, next, left)
            .into_iter()
            .flat_map(|found| self.descend(found, rest, left))
            .collect()
    }

    fn lookup(&self, module: ModuleId, name: &str, left: usize) -> Vec<Target> {
        let scope = &self.scopes[module];
        if let Some(bindings) = scope.names.get(name) {
            let targets = bindings.iter().flat_map(|binding| match binding {
                Binding::Type => vec![Target::Type(module)],
                Binding::Value => vec![Target::Value(module)],
                Binding::Module(child) => vec![Target::Module(*child)],
                // A `use` that names itself (`use serde;`) refers to another crate.
                Binding::Import(path) if path.len() == 1 && path[0] == name => Vec::new(),
                Binding::Import(path) => self.follow(module, path, left - 1),
            });
            return targets.collect();
        }
        let globs = scope
            .globs
            .iter()
            .flat_map(|glob| self.follow(module, glob, left - 1));
        let found = globs.flat_map(|target| match target {
            Target::Module(from) if from != module => self.lookup(from, name, left - 1),
            _ => Vec::new(),
        });
        if left > 1 {
            found.collect()
        } else {
            Vec::new()
        }
    }
}

impl Scope {
    fn new(tree: &ModuleTree, module: ModuleId) -> Self {
        let mut scope = Self::default();
        for child in tree.children(module) {
            let name = tree.modules[child].path.last().expect("a child has a name");
            scope.bind(name, Binding::Module(child));
        }
        for item in tree.modules[module]
            .items
            .iter()
            .filter(|item| !compiled_for_tests(attributes(item)))
        {
            scope.add_item(item);
            // A `use` inside a function is rare enough to be treated as one of the module.
            LocalUses(&mut scope).visit_item(item);
        }
        tree.modules[module]
            .items
            .iter()
            .for_each(|item| scope.add_call(item));
        scope
    }

    fn add_item(&mut self, item: &Item) {
        let (name, binding) = match item {
            Item::Enum(item) => (&item.ident, Binding::Type),
            Item::Struct(item) => (&item.ident, Binding::Type),
            Item::Trait(item) => (&item.ident, Binding::Type),
            Item::TraitAlias(item) => (&item.ident, Binding::Type),
            Item::Type(item) => (&item.ident, Binding::Type),
            Item::Union(item) => (&item.ident, Binding::Type),
            Item::Const(item) => (&item.ident, Binding::Value),
            Item::Fn(item) => (&item.sig.ident, Binding::Value),
            Item::Static(item) => (&item.ident, Binding::Value),
            Item::Macro(item) => return self.add_macro(item),
            _ => return,
        };
        self.bind(&name.to_string(), binding);
    }

    /// The items of a macro's rules belong to its module. If another module calls it, their uses
    /// there are not resolved.
    fn add_macro(&mut self, item: &ItemMacro) {
        let Some(name) = &item.ident else { return };
        self.macros.push(name.to_string());
        self.bind(&name.to_string(), Binding::Value);
        let groups = item
            .mac
            .tokens
            .clone()
            .into_iter()
            .filter_map(|token| match token {
                TokenTree::Group(group) => Some(group.stream()),
                _ => None,
            });
        groups.for_each(|tokens| self.add_defined(tokens));
    }

    /// Names after the keyword of an item, and those in the arguments of a macro, at the top level
    /// of tokens.
    fn add_defined(&mut self, tokens: TokenStream) {
        let (mut keyword, mut exclamation) = (false, false);
        for token in tokens {
            let is_keyword = matches!(&token, TokenTree::Ident(word) if KEYWORDS.iter().any(|known| word == known));
            match &token {
                TokenTree::Ident(name) if keyword && !is_keyword => {
                    self.bind(&name.to_string(), Binding::Type)
                }
                TokenTree::Group(arguments) if exclamation => {
                    self.add_arguments(arguments.stream())
                }
                _ => {}
            }
            keyword = is_keyword;
            exclamation = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '!');
        }
    }

    fn add_call(&mut self, item: &Item) {
        if let Item::Macro(call) = item {
            self.add_arguments(call.mac.tokens.clone());
        }
    }

    /// A call of a macro may define any name in its arguments that has no other definition here.
    fn add_arguments(&mut self, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Ident(name) = token {
                self.names
                    .entry(name.to_string())
                    .or_insert_with(|| vec![Binding::Type]);
            }
        }
    }

    fn bind(&mut self, name: &str, binding: Binding) {
        self.names.entry(name.to_owned()).or_default().push(binding);
    }
}

struct LocalUses<'s>(&'s mut Scope);

impl<'ast> Visit<'ast> for LocalUses<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for import in imports(item) {
            match import.name.as_str() {
                "" => self.0.globs.push(import.path),
                name if self.0.macros.iter().any(|known| known == name) => {}
                name => self.0.bind(name, Binding::Import(import.path)),
            }
        }
    }
}

/// All names that one `use` brings into scope.
pub(super) fn imports(item: &ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        collect(&item.tree, &mut Vec::new(), &mut found);
    }
    found
}

fn collect(tree: &UseTree, prefix: &mut Vec<String>, found: &mut Vec<Import>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            collect(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            let name = prefix.last().cloned().unwrap_or_default();
            found.push(Import {
                name,
                path: prefix.clone(),
            });
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let path = prefix.iter().cloned().chain([name.clone()]).collect();
            found.push(Import { name, path });
        }
        UseTree::Rename(rename) => {
            let path = prefix
                .iter()
                .cloned()
                .chain([rename.ident.to_string()])
                .filter(|name| name != "self")
                .collect();
            found.push(Import {
                name: rename.rename.to_string(),
                path,
            });
        }
        UseTree::Glob(_) => found.push(Import {
            name: String::new(),
            path: prefix.clone(),
        }),
        UseTree::Group(group) => {
            for tree in &group.items {
                collect(tree, prefix, found);
            }
        }
    }
}

/// Attributes of an item of any kind that can be left out of a build.
pub(super) fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

//! Resolves the paths in a harness: to `testgen_runtime`, to an item of the file, to the prelude,
//! or to nothing.

use crate::vocabulary::{self, RUNTIME};
use std::collections::{BTreeMap, BTreeSet};
use syn::{File, Ident, Item, Path, UseTree, ext::IdentExt};

/// The meaning of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A path below `testgen_runtime`, for instance `Endpoint::mock`.
    Runtime(String),
    /// An item of the file.
    Local(String),
    /// A name of the prelude.
    Prelude(String),
    /// A path that begins with another crate or a module.
    Foreign(String),
    /// An unknown name.
    Unknown(String),
}

/// The variant that a path names.
#[derive(Debug)]
pub(crate) enum Variant<'p> {
    /// The variant's name is part of the path.
    Written(&'p Ident),
    /// The path is an imported alias of the variant.
    Meant(String),
}

impl Variant<'_> {
    /// Whether the variant has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        match self {
            Self::Written(ident) => *ident == name,
            Self::Meant(text) => text == name,
        }
    }
}

/// First segments of paths that leave the file, other than the runtime.
const FOREIGN: [&str; 6] = ["alloc", "core", "crate", "self", "std", "super"];

/// The names of one file.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Local names and the paths below the runtime that they refer to; empty for the runtime as a
    /// whole.
    imports: BTreeMap<String, String>,
    items: BTreeSet<String>,
    /// Names for the runtime as a whole, from `use testgen_runtime as name`.
    roots: BTreeSet<String>,
    glob: bool,
}

impl Names {
    /// Collects the imports and the items of `file`.
    pub(crate) fn new(file: &File) -> Self {
        let mut names = Self::default();
        for item in &file.items {
            match item {
                Item::Use(item) => names.import(&item.tree, &mut Vec::new()),
                _ => names.items.extend(item_name(item)),
            }
        }
        names
    }

    /// The meaning of `path` at the top level of the file; local variables are handled by the
    /// interpreter.
    pub(crate) fn meaning(&self, path: &Path) -> Meaning {
        let Some(first) = path.segments.first().map(|segment| text_of(&segment.ident)) else {
            return Meaning::Unknown(String::new());
        };
        // First, because an import hides a name of the prelude, as in Rust.
        if let Some(imported) = self.imports.get(&first) {
            return Meaning::Runtime(joined(imported.clone(), path, 1));
        }
        if first == RUNTIME {
            return Meaning::Runtime(joined(String::new(), path, 1));
        }
        let is_item = self.items.contains(&first);
        // An item that takes a protected name is a finding of `imports`; here the name keeps its
        // original meaning.
        let meaning = match first.as_str() {
            name if is_item && !vocabulary::is_protected(name) => Meaning::Local,
            name if vocabulary::is_prelude(name) => Meaning::Prelude,
            name if vocabulary::is_runtime(name) && (self.glob || is_item) => Meaning::Runtime,
            name if FOREIGN.contains(&name) => Meaning::Foreign,
            _ => Meaning::Unknown,
        };
        meaning(joined(first, path, 1))
    }

    /// Whether `path` begins with another crate or a module. Called for every path of a file.
    pub(crate) fn is_foreign(&self, path: &Path) -> bool {
        let first = path.segments.first().map(|segment| &segment.ident);
        // The first segment is compared before `meaning` is called, which allocates.
        first.is_some_and(|first| FOREIGN.iter().any(|root| first == root))
            && matches!(self.meaning(path), Meaning::Foreign(_))
    }

    /// The first name below `testgen_runtime` of a fully qualified path that harnesses may not use;
    /// called for every path of a file.
    pub(crate) fn beyond_vocabulary(&self, path: &Path) -> Option<String> {
        let (first, second) = (&path.segments.first()?.ident, path.segments.get(1)?);
        let is_root = first == RUNTIME || self.roots.iter().any(|root| first == root);
        let name = is_root.then(|| text_of(&second.ident))?;
        (!vocabulary::is_runtime(&name)).then_some(name)
    }

    /// The variant of `path`, if it is `testgen_runtime::<kind>::<variant>`.
    pub(crate) fn variant<'p>(&self, path: &'p Path, kind: &str) -> Option<Variant<'p>> {
        let segments = &path.segments;
        // The usual form, a variant of an imported enum, needs no allocation.
        if segments.len() == 2
            && segments[0].ident == kind
            && self
                .imports
                .get(kind)
                .is_some_and(|imported| imported == kind)
        {
            return Some(Variant::Written(&segments[1].ident));
        }
        // A qualified path or an alias: rare, so this may be slower.
        let Meaning::Runtime(name) = self.meaning(path) else {
            return None;
        };
        let (found, variant) = name.split_once("::")?;
        (found == kind).then(|| Variant::Meant(variant.to_owned()))
    }

    /// Whether `path` is this name of the prelude.
    pub(crate) fn is_prelude(&self, path: &Path, name: &str) -> bool {
        matches!(self.meaning(path), Meaning::Prelude(found) if found == name)
    }

    /// Whether `path` is `testgen_runtime::<name>`.
    pub(crate) fn is_runtime(&self, path: &Path, name: &str) -> bool {
        matches!(self.meaning(path), Meaning::Runtime(found) if found == name)
    }

    fn import(&mut self, tree: &UseTree, prefix: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.unraw().to_string());
                self.import(&path.tree, prefix);
                prefix.pop();
            }
            UseTree::Name(name) => self.bind(&name.ident, &name.ident, prefix),
            UseTree::Rename(rename) => self.bind(&rename.rename, &rename.ident, prefix),
            // The names of a deeper glob, for instance of an enum, stay unknown, so that using one
            // is a finding.
            UseTree::Glob(_) => self.glob |= prefix.as_slice() == [RUNTIME],
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| self.import(tree, prefix)),
        }
    }

    fn bind(&mut self, local: &syn::Ident, name: &syn::Ident, prefix: &[String]) {
        let mut path = [prefix, &[name.unraw().to_string()]].concat();
        let is_self = name == "self";
        // `use testgen_runtime::{self}` imports the module before the braces.
        if is_self {
            path.pop();
        }
        let local = if is_self && local == name {
            path.last().cloned()
        } else {
            Some(local.unraw().to_string())
        };
        if let Some(local) = local
            && path.first().is_some_and(|first| first == RUNTIME)
        {
            if path.len() == 1 {
                self.roots.insert(local.clone());
            }
            self.imports.insert(local, path[1..].join("::"));
        }
    }
}

/// An identifier without `r#`.
fn text_of(ident: &Ident) -> String {
    let text = ident.to_string();
    match text.strip_prefix("r#") {
        Some(plain) => plain.to_owned(),
        None => text,
    }
}

/// `start` and the segments of `path` from the position `from`, joined.
fn joined(mut start: String, path: &Path, from: usize) -> String {
    // By position, because an iterator over segments allocates.
    for position in from..path.segments.len() {
        if !start.is_empty() {
            start.push_str("::");
        }
        start.push_str(&text_of(&path.segments[position].ident));
    }
    start
}

/// The name that `item` defines, if it defines one.
pub(crate) fn item_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::ExternCrate(item) => item
            .rename
            .as_ref()
            .map_or(&item.ident, |(_, rename)| rename),
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.unraw().to_string())
}

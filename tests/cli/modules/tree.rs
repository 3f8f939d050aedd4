//! The modules of one crate, parsed: declared files and inline modules, without those compiled for
//! tests only.

use std::path::{Path, PathBuf};
use syn::{Attribute, Item};

pub(super) type ModuleId = usize;

/// One module: its own items, and where they are written.
pub(super) struct Module {
    /// Names from the crate's root, which itself is empty.
    pub(super) path: Vec<String>,
    pub(super) file: PathBuf,
    pub(super) parent: Option<ModuleId>,
    pub(super) items: Vec<Item>,
}

/// All modules of a crate; parents precede their children, the root is the first.
pub(super) struct ModuleTree {
    pub(super) modules: Vec<Module>,
}

/// Where sources come from: the disk, or the samples of a test.
pub(super) type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

impl ModuleTree {
    pub(super) const ROOT: ModuleId = 0;

    /// Parse the crate whose root is `file`.
    pub(super) fn parse(file: &Path, read: Read<'_>) -> Self {
        let mut tree = Self {
            modules: Vec::new(),
        };
        let directory = file.parent().expect("a root file is in a directory");
        tree.add_file(Vec::new(), file, directory, None, read);
        tree
    }

    /// Modules declared in `module`.
    pub(super) fn children(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> + '_ {
        (0..self.modules.len()).filter(move |child| self.modules[*child].parent == Some(module))
    }

    /// `module` and everything it is declared in, from the inside out.
    pub(super) fn ancestors(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> + '_ {
        std::iter::successors(Some(module), |current| self.modules[*current].parent)
    }

    /// As it is written in source: `crate::a::b`.
    pub(super) fn name(&self, module: ModuleId) -> String {
        ["crate"]
            .into_iter()
            .chain(self.modules[module].path.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("::")
    }

    fn add_file(
        &mut self,
        path: Vec<String>,
        file: &Path,
        directory: &Path,
        parent: Option<ModuleId>,
        read: Read<'_>,
    ) {
        let source = read(file).unwrap_or_else(|| panic!("cannot read {}", file.display()));
        let parsed =
            syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(
            Module {
                path,
                file: file.to_owned(),
                parent,
                items: parsed.items,
            },
            directory,
            read,
        );
    }

    /// `directory` has the files of the modules that `module` declares.
    fn add(&mut self, mut module: Module, directory: &Path, read: Read<'_>) {
        let (declared, items) = std::mem::take(&mut module.items)
            .into_iter()
            .partition(|item| matches!(item, Item::Mod(_)));
        module.items = items;
        let (path, file, id) = (module.path.clone(), module.file.clone(), self.modules.len());
        self.modules.push(module);
        let declared: Vec<Item> = declared;
        for item in declared {
            let Item::Mod(child) = item else { continue };
            if compiled_for_tests(&child.attrs) {
                continue;
            }
            assert!(
                !child
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("path")),
                "`#[path]` is not read"
            );
            let name = child.ident.to_string();
            let child_path = path.iter().cloned().chain([name.clone()]).collect();
            let below = directory.join(&name);
            match child.content {
                Some((_, items)) => {
                    self.add(
                        Module {
                            path: child_path,
                            file: file.clone(),
                            parent: Some(id),
                            items,
                        },
                        &below,
                        read,
                    );
                }
                None => {
                    self.add_file(
                        child_path,
                        &directory.join(format!("{name}.rs")),
                        &below,
                        Some(id),
                        read,
                    );
                }
            }
        }
    }
}

/// `#[cfg(test)]`, `#[cfg(all(test, ...))]` or `#[test]`.
pub(super) fn compiled_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("test") {
            return true;
        }
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        let condition = list.tokens.to_string();
        list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all (test"))
    })
}

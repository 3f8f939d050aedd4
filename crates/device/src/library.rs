//! Opening a shared library at run time: the first candidate that loads, as burn's backends do.

mod elf;

use libloading::Library;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use testgen_types::bounded_file::{limit, read_text};

/// A library that is never unloaded: unloading a GPU driver runs destructors while other users in
/// the process still need it.
pub struct SharedLibrary {
    path: String,
    handle: ManuallyDrop<Library>,
}

/// No candidate could be opened.
pub struct NotOpened {
    /// Files that exist, or that the loader found, and that do not load, each with the loader's
    /// error.
    pub broken: Vec<String>,
}

impl SharedLibrary {
    /// Opens the first candidate that loads: a path, or a bare name that the loader searches. A
    /// truncated file is rejected before the loader crashes on it.
    ///
    /// # Errors
    ///
    /// No candidate loads.
    pub fn open(candidates: &[PathBuf]) -> Result<Self, NotOpened> {
        let mut broken = Vec::new();
        for candidate in candidates {
            match open_one(candidate) {
                Ok(handle) => {
                    let path =
                        mapped_path(candidate).unwrap_or_else(|| candidate.display().to_string());
                    return Ok(Self {
                        path,
                        handle: ManuallyDrop::new(handle),
                    });
                }
                Err(Some(error)) => {
                    broken.push(format!("`{}` does not load ({error})", candidate.display()))
                }
                // Absent, which is normal: a library is in one of several places.
                Err(None) => {}
            }
        }
        broken.dedup();
        Err(NotOpened { broken })
    }

    /// The file that it was loaded from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The members of `symbols` that it does not export.
    pub fn missing<'name>(&self, symbols: &[&'name str]) -> Vec<&'name str> {
        // SAFETY: the address is only compared with null, never called or read, so its type does
        // not matter.
        let exports =
            |symbol: &str| unsafe { self.function::<unsafe extern "C" fn()>(symbol) }.is_some();
        symbols
            .iter()
            .copied()
            .filter(|symbol| !exports(symbol))
            .collect()
    }

    /// The address of a function; `None` when the library has no such symbol.
    ///
    /// # Safety
    ///
    /// `Function` must be a function pointer type with the C signature of `symbol`.
    pub unsafe fn function<Function: Copy>(&self, symbol: &str) -> Option<Function> {
        // A type of another size is not a function pointer.
        const { assert!(size_of::<Option<Function>>() == size_of::<usize>()) };
        // SAFETY: the caller passes the function pointer type of this symbol; `Option` of it has
        // the same layout and represents a null address as `None`. The library is never unloaded,
        // so the copy stays valid.
        unsafe { self.handle.get::<Option<Function>>(symbol) }
            .ok()
            .and_then(|address| *address)
    }
}

/// `Err(None)`: there is no such file. `Err(Some(_))`: the file exists and does not load.
fn open_one(candidate: &Path) -> Result<Library, Option<String>> {
    // Only a path can be examined here: for a bare name the loader decides which file it opens.
    let located = candidate.components().count() > 1;
    if located {
        if !candidate.exists() {
            return Err(None);
        }
        if let Some(defect) = elf::defect(candidate) {
            return Err(Some(defect));
        }
    }
    // SAFETY: loading runs the initialisers of the library. The candidates are the GPU driver
    // libraries that burn loads in the same way a moment later; `dlopen` has no weaker
    // precondition.
    unsafe { Library::new(candidate) }.map_err(|error| {
        let message = full_message(&error);
        // The loader has no error code for "not found". The same text about another file means a
        // missing dependency.
        let absent = !located
            && message.contains(&format!(
                "{}: cannot open shared object",
                candidate.display()
            ));
        (!absent).then_some(message)
    })
}

/// The loader's own message is in the error's source.
fn full_message(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) if !error.to_string().contains(&source.to_string()) => source.to_string(),
        _ => error.to_string(),
    }
}

/// The file that the loader found for a bare name, from this process's memory map.
fn mapped_path(candidate: &Path) -> Option<String> {
    if candidate.components().count() > 1 {
        return None;
    }
    let pattern = format!("/{}", candidate.display());
    let maps = read_text(Path::new("/proc/self/maps"), limit::SYSTEM).ok()?;
    let path = maps
        .lines()
        // The path is the last column, and the only one with a slash.
        .filter_map(|line| line.find('/').map(|start| &line[start..]))
        // The mapped file may have a longer name, as `libcuda.so.580.65.06`, to which a link leads.
        .find(|path| path.contains(&pattern))?;
    Some(path.to_owned())
}

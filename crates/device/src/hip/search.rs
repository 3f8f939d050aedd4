//! The places where burn's ROCm backend looks for its libraries (cubecl-hip-sys 7.14,
//! `dynamic.rs`).

use crate::device::DetectionPath;
use crate::library::{NotOpened, SharedLibrary};
use crate::system::System;
use std::path::PathBuf;

/// Opens `lib<name>` as cubecl-hip-sys does: in `ROCM_PATH` and `HIP_PATH`, then through the
/// loader.
pub(crate) fn open(system: &System, name: &str) -> Result<SharedLibrary, NotOpened> {
    SharedLibrary::open(&candidates(system, name))
}

fn candidates(system: &System, name: &str) -> Vec<PathBuf> {
    let files = [
        format!("lib{name}.so"),
        format!("lib{name}.so.1"),
        format!("lib{name}.so.0"),
    ];
    let roots = ["ROCM_PATH", "HIP_PATH"]
        .into_iter()
        .filter_map(|variable| system.variable(variable));
    let directories = roots
        .map(|root| system.path(root))
        // The order of `search_paths` in cubecl-hip-sys, so that both open the same file.
        .flat_map(|root| [root.join("lib"), root]);
    let located =
        directories.flat_map(|directory| files.each_ref().map(|file| directory.join(file)));
    located
        .chain(files.iter().flat_map(|file| system.loader_candidates(file)))
        .collect()
}

/// Why `libamdhip64` could not be opened, and what to do.
pub(super) fn describe_missing(system: &System, not_opened: &NotOpened) -> String {
    let path = DetectionPath::HipRuntime;
    if !not_opened.broken.is_empty() {
        return format!("{path}: {}; reinstall ROCm", not_opened.broken.join(", "));
    }
    let advice = match installed_elsewhere(system) {
        Some(root) => format!("it is installed in `{root}/lib`; set ROCM_PATH={root}"),
        None => "install ROCm 6.2 or newer, or set ROCM_PATH to its folder".to_owned(),
    };
    format!("{path}: no libamdhip64.so in ROCM_PATH, HIP_PATH or the loader's path; {advice}")
}

/// An installation in /opt that neither the variables nor the loader's path include.
fn installed_elsewhere(system: &System) -> Option<String> {
    let roots = system
        .list("/opt")
        .into_iter()
        .filter(|name| name.starts_with("rocm"))
        .map(|name| format!("/opt/{name}"));
    roots
        .into_iter()
        .find(|root| system.path(format!("{root}/lib/libamdhip64.so")).exists())
}

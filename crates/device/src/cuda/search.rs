//! The file names under which burn's CUDA backend looks for its libraries (cudarc 0.19,
//! `get_lib_name_candidates`).

use crate::library::{NotOpened, SharedLibrary};
use crate::system::System;

/// The CUDA version whose bindings cudarc uses when it is built without `nvcc`.
const MAJOR: u32 = 13;
const MINOR: u32 = 4;

/// Opens the first of cudarc's candidates that loads.
pub(super) fn open(system: &System, names: &[&str]) -> Result<SharedLibrary, NotOpened> {
    let files = names.iter().flat_map(|name| file_names(name));
    let candidates: Vec<_> = files
        .flat_map(|file| system.loader_candidates(&file))
        .collect();
    SharedLibrary::open(&candidates)
}

/// cudarc's names, in its order.
fn file_names(name: &str) -> Vec<String> {
    let infixes = [
        String::new(),
        "64".to_owned(),
        format!("64_{MAJOR}"),
        format!("64_{MAJOR}{MINOR}"),
        format!("64_{MAJOR}{MINOR}_0"),
        format!("64_{MAJOR}0_{MINOR}"),
        "64_10".to_owned(),
        "64_11".to_owned(),
        "64_12".to_owned(),
        format!("64_{MAJOR}0_0"),
        "64_9".to_owned(),
    ];
    let suffixes = [MAJOR, 12, 11, 10, 9, 1];
    let plain = infixes.iter().map(|infix| format!("lib{name}{infix}.so"));
    plain
        .chain(
            suffixes
                .iter()
                .map(|suffix| format!("lib{name}.so.{suffix}")),
        )
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_those_of_cudarc() {
        let names = super::file_names("nvrtc");
        assert_eq!(names.len(), 17);
        assert_eq!(names[0], "libnvrtc.so");
        assert_eq!(names[4], "libnvrtc64_134_0.so");
        assert_eq!(names[11], "libnvrtc.so.13");
        assert_eq!(names[16], "libnvrtc.so.1");
    }
}

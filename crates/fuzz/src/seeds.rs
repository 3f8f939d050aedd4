//! Files as the first inputs of a target.

use std::{fs, path::Path};

/// The content of the files with this extension (every file without one) in a directory and in
/// those directly in it, in the order of their names.
pub fn seeds(directory: &Path, extension: Option<&str>) -> Vec<Vec<u8>> {
    let entries = walkdir::WalkDir::new(directory)
        .max_depth(2)
        .sort_by_file_name();
    let files = entries
        .into_iter()
        // A target without kept inputs has no directory, which is not an error.
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file());
    let paths = files.map(walkdir::DirEntry::into_path).filter(|path| {
        extension.is_none_or(|extension| path.extension().is_some_and(|kind| kind == extension))
    });
    paths
        .map(|path| fs::read(path).expect("a seed can be read"))
        .collect()
}

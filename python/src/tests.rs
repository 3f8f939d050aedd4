use crate::{EXPORTER, EmbeddedProgram, ONNXRUNTIME, RECORDER, TORCH};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The files below a folder of this crate, without the bytecode that Python leaves there.
fn sources(folder: &Path, relative: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder.join(relative)).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let path = relative.join(entry.file_name());
        if path.ends_with("__pycache__") {
            continue;
        }
        if entry.file_type().expect("has a type").is_dir() {
            found.extend(sources(folder, &path));
        } else {
            found.insert(path);
        }
    }
    found
}

/// The files that a program writes, and the module that Python runs.
fn written(program: EmbeddedProgram) -> (BTreeSet<PathBuf>, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    program.write(directory.path()).expect("it can be written");
    let [folder, module] = program.arguments(directory.path());
    assert_eq!(folder, directory.path());
    let module = module.into_string().expect("is text");
    (sources(directory.path(), Path::new("")), module)
}

#[test]
fn programs_have_every_file_of_their_packages() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = [
        (RECORDER, ["record", "reference"].as_slice()),
        (EXPORTER, &["engine", "export", "reference"]),
        (TORCH, &["engine", "reference"]),
        (ONNXRUNTIME, &["engine", "reference"]),
    ];
    for (program, packages) in programs {
        let (found, module) = written(program);
        let mut expected = BTreeSet::from([PathBuf::from("__main__.py")]);
        for package in packages {
            expected.extend(sources(crate_folder, Path::new(package)));
        }
        assert_eq!(found, expected, "{module}: list the file in src/files.rs");
        let main = format!("{}.py", module.replace('.', "/"));
        assert!(found.contains(Path::new(&main)), "{main}");
    }
}

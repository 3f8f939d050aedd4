//! Atomic files: what is replaced, what stays, and which temporary files are deleted.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory)
        .expect("the directory is there")
        .filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("the temporary directory can be written")
}

#[test]
fn a_file_is_replaced_with_its_mode_and_its_links() {
    let directory = temporary();
    let (file, link) = (
        directory.path().join("a/b/file"),
        directory.path().join("link"),
    );
    replace(&file, b"old").expect("directories are created");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("the mode can be set");
    symlink("a/b/file", &link).expect("links can be made");
    replace(&link, b"new").expect("the target of the link is replaced");
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("is there"), "new");
    assert_eq!(
        fs::metadata(&file).expect("is there").permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(names(&directory.path().join("a/b")), ["file"]);
}

#[test]
fn a_dropped_file_leaves_the_old_one() {
    let directory = temporary();
    let target = directory.path().join("file");
    replace(&target, b"old").expect("can be written");
    let mut file = TemporaryFile::new(&target).expect("can be created");
    file.write_all(b"half").expect("can be written");
    assert_eq!(names(directory.path()).len(), 2);
    drop(file);
    assert_eq!(names(directory.path()), ["file"]);
    assert_eq!(fs::read_to_string(&target).expect("is there"), "old");
}

#[test]
fn an_existing_file_is_not_created() {
    let directory = temporary();
    let target = directory.path().join("file");
    create(&target, b"first").expect("there is none");
    let error = create(&target, b"second").expect_err("there is one");
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    symlink("nowhere", directory.path().join("dangling")).expect("links can be made");
    create(&directory.path().join("dangling"), b"").expect_err("a dangling link is not replaced");
    assert_eq!(fs::read_to_string(&target).expect("is there"), "first");
    assert_eq!(names(directory.path()), ["dangling", "file"]);
}

#[test]
fn only_abandoned_temporary_files_are_deleted() {
    let directory = temporary();
    let path = |name: &str| directory.path().join(name);
    for name in [
        ".testgen-1.0.tmp",
        ".testgen.toml",
        "testgen-1.0.tmp",
        ".testgen-x",
    ] {
        fs::write(path(name), "").expect("can be written");
    }
    fs::create_dir_all(path(".testgen-2.0.tmp/src")).expect("can be made");
    symlink("testgen-1.0.tmp", path(".testgen-3.0.tmp")).expect("links can be made");
    let running = TemporaryFile::new(&path("other")).expect("can be created");
    replace(&path("file"), b"new").expect("can be written");
    let running_name = running
        .path()
        .file_name()
        .expect("has one")
        .to_string_lossy()
        .into_owned();
    let mut expected = vec![
        ".testgen-3.0.tmp",
        ".testgen-x",
        ".testgen.toml",
        "file",
        "testgen-1.0.tmp",
        &running_name,
    ];
    expected.sort_unstable();
    assert_eq!(names(directory.path()), expected);
    running.persist().expect("it was not deleted");
    assert!(path("other").is_file());
}

#[test]
fn directories_and_pipes_are_not_replaced() {
    let directory = temporary();
    let error = replace(directory.path(), b"").expect_err("a directory");
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    replace(Path::new("/dev/null"), b"text").expect("a device is written to");
    TemporaryFile::new(Path::new("/dev/null")).expect_err("a device is not replaced");
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn threads_that_write_the_same_file_leave_one_of_their_contents() {
    let directory = temporary();
    let target = directory.path().join("file");
    let content = |writer: usize| format!("{writer}").repeat(10_000);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let target = &target;
            scope.spawn(move || {
                for _ in 0..50 {
                    replace(target, content(writer).as_bytes()).expect("can be written");
                }
            });
        }
    });
    let found = fs::read_to_string(&target).expect("is there");
    assert!(
        (0..4).any(|writer| found == content(writer)),
        "{} bytes",
        found.len()
    );
    assert_eq!(names(directory.path()), ["file"]);
}

//! Every kind of thing that can be in place of a file: an error at once, without reading it.

use super::{open, read_bytes, read_text};
use std::{
    fs::{self, File},
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// A directory of this test, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("testgen-bounded-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Ignored: the system removes temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The message without the path, from both readers; within a second.
#[track_caller]
fn message(path: &Path, limit: u64) -> String {
    let start = Instant::now();
    let error = read_bytes(path, limit).expect_err("it cannot be read");
    assert!(start.elapsed() < Duration::from_secs(1), "it took {:?}", start.elapsed());
    assert_eq!(error.path, path);
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    error.problem.to_string()
}

#[test]
fn a_file_up_to_the_limit_is_read() {
    let directory = Directory::new("limit");
    let path = directory.path("file");
    fs::write(&path, "12345").expect("writable");
    assert_eq!(read_bytes(&path, 5).expect("within the limit"), b"12345");
    assert_eq!(message(&path, 4), "it has 5 bytes, and at most 4 are read; check that it is the right file");
    let link = directory.path("link");
    symlink(&path, &link).expect("writable");
    assert_eq!(read_text(&link, 5).expect("a link to a file"), "12345");
}

#[test]
fn a_sparse_file_is_not_read() {
    let directory = Directory::new("sparse");
    let path = directory.path("file");
    File::create(&path).and_then(|file| file.set_len(20_000_000_000)).expect("writable");
    assert!(message(&path, 1 << 20).starts_with("it has 20000000000 bytes"));
}

#[test]
fn a_file_of_proc_has_no_size_and_is_bounded_all_the_same() {
    let path = Path::new("/proc/self/maps");
    assert!(!read_bytes(path, 1 << 20).expect("it is a regular file").is_empty());
    assert_eq!(message(path, 10), "it grows while it is read, beyond 10 bytes; wait until it is complete");
}

#[test]
fn special_files_are_named() {
    let directory = Directory::new("special");
    let fifo = directory.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("coreutils has mkfifo").success());
    let socket = directory.path("socket");
    let _listener = UnixListener::bind(&socket).expect("writable");
    for (path, kind) in [
        (directory.0.as_path(), "a directory"),
        (&fifo, "a FIFO"),
        (&socket, "a socket"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        assert_eq!(message(path, 100), format!("it is {kind}; put a regular file in its place"));
        assert!(open(path).is_err());
    }
}

#[test]
fn a_dangling_link_is_not_a_missing_file() {
    let directory = Directory::new("link");
    let link = directory.path("link");
    symlink("nowhere", &link).expect("writable");
    assert_eq!(
        message(&link, 100),
        "it is a link to `nowhere`, which does not exist; copy the file there or correct the link"
    );
    assert!(!read_bytes(&link, 100).expect_err("dangling").is_missing());
    assert_eq!(message(&directory.path("absent"), 100), "it does not exist");
    assert!(read_bytes(&directory.path("absent"), 100).expect_err("missing").is_missing());
}

#[test]
fn a_text_is_utf_8() {
    let directory = Directory::new("text");
    let path = directory.path("file");
    fs::write(&path, b"ab\xff").expect("writable");
    assert_eq!(
        read_text(&path, 100).expect_err("not UTF-8").problem.to_string(),
        "byte 2 is not UTF-8; save it as UTF-8"
    );
}

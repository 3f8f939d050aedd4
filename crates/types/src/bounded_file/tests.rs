//! Every kind of thing that can be in place of a file: an error at once, without reading it.

use super::{FileProblem, open, read_bytes, read_limited, read_text};
use std::{
    cell::Cell,
    fs::{self, File},
    io::{self, Read},
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    thread,
    time::Duration,
};

/// A directory of this test, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("testgen-bounded-{}-{name}", std::process::id()));
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

/// A watchdog, not a time that is tested: opening a FIFO for reading waits for ever.
const WATCHDOG: Duration = Duration::from_secs(120);

/// The message without the path.
#[track_caller]
fn message(path: &Path, limit: u64) -> String {
    let (sender, receiver) = mpsc::channel();
    let file = path.to_owned();
    thread::spawn(move || sender.send(read_bytes(&file, limit)));
    let error = receiver
        .recv_timeout(WATCHDOG)
        .expect("reading ends")
        .expect_err("it cannot be read");
    assert_eq!(error.path, path);
    assert!(
        error.to_string().contains(&path.display().to_string()),
        "{error}"
    );
    error.problem.to_string()
}

#[test]
fn a_file_up_to_the_limit_is_read() {
    let directory = Directory::new("limit");
    let path = directory.path("file");
    fs::write(&path, "12345").expect("writable");
    assert_eq!(read_bytes(&path, 5).expect("within the limit"), b"12345");
    assert_eq!(
        message(&path, 4),
        "it has 5 bytes, and at most 4 are read; check that it is the right file"
    );
    let link = directory.path("link");
    symlink(&path, &link).expect("writable");
    assert_eq!(read_text(&link, 5).expect("a link to a file"), "12345");
}

/// Endless zeros, and how many of them were read.
struct Zeros<'a>(&'a Cell<u64>);

impl Read for Zeros<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A caller without a bound must fail, not fill the memory.
        assert!(self.0.get() < 1 << 20, "{} bytes were read", self.0.get());
        buffer.fill(0);
        self.0.set(self.0.get() + buffer.len() as u64);
        Ok(buffer.len())
    }
}

#[test]
fn nothing_is_read_beyond_the_limit() {
    let read = Cell::new(0);
    let problem = read_limited(Zeros(&read), 20_000_000_000, 1000).expect_err("it is too large");
    assert!(matches!(
        problem,
        FileProblem::TooLarge {
            size: Some(20_000_000_000),
            limit: 1000
        }
    ));
    assert_eq!(
        read.get(),
        0,
        "the size is known before the first byte is read"
    );
    let problem = read_limited(Zeros(&read), 10, 1000).expect_err("it grows");
    assert!(matches!(
        problem,
        FileProblem::TooLarge {
            size: None,
            limit: 1000
        }
    ));
    assert_eq!(
        read.get(),
        1001,
        "one byte more than the limit shows that it grows"
    );
}

#[test]
fn a_sparse_file_is_not_read() {
    let directory = Directory::new("sparse");
    let path = directory.path("file");
    File::create(&path)
        .and_then(|file| file.set_len(20_000_000_000))
        .expect("writable");
    assert!(message(&path, 1 << 20).starts_with("it has 20000000000 bytes"));
}

#[test]
fn a_file_of_proc_has_no_size_and_is_bounded_all_the_same() {
    let path = Path::new("/proc/self/maps");
    assert!(
        !read_bytes(path, 1 << 20)
            .expect("it is a regular file")
            .is_empty()
    );
    assert_eq!(
        message(path, 10),
        "it grows while it is read, beyond 10 bytes; wait until it is complete"
    );
}

#[test]
fn special_files_are_named() {
    let directory = Directory::new("special");
    let fifo = directory.path("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .expect("coreutils has mkfifo")
            .success()
    );
    let socket = directory.path("socket");
    let _listener = UnixListener::bind(&socket).expect("writable");
    for (path, kind) in [
        (directory.0.as_path(), "a directory"),
        (&fifo, "a FIFO"),
        (&socket, "a socket"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        assert_eq!(
            message(path, 100),
            format!("it is {kind}; put a regular file in its place")
        );
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
    assert!(
        read_bytes(&directory.path("absent"), 100)
            .expect_err("missing")
            .is_missing()
    );
}

#[test]
fn a_text_is_utf_8() {
    let directory = Directory::new("text");
    let path = directory.path("file");
    fs::write(&path, b"ab\xff").expect("writable");
    assert_eq!(
        read_text(&path, 100)
            .expect_err("not UTF-8")
            .problem
            .to_string(),
        "byte 2 is not UTF-8; save it as UTF-8"
    );
}

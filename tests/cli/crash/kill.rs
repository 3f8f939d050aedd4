//! kill -9 at seeded moments: at any time of the run, and shortly after the first temporary file
//! appears.

use super::{assert_old_or_new, contents, write_report, write_specs};
use crate::project::Project;
use crate::run::termination::is_running;
use crate::watchdog::wait_for;
use std::{
    collections::BTreeMap,
    env, fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Kills per command; few, because every build runs them.
const KILLS: u64 = 12;
/// The longest time between the first temporary file and the kill.
const WRITING: Duration = Duration::from_millis(4);

fn kills() -> u64 {
    env::var("TESTGEN_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS)
}

/// A number of SplitMix64 in [0, 1), from the number of the kill.
fn fraction(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as f64 / 2f64.powi(64)
}

/// A command that alternates between two results below `directory`.
struct Crash<'a> {
    project: &'a Project,
    /// The directory in which files change.
    directory: &'a str,
    /// The arguments of the command, for the old and the new result.
    arguments: [&'a [&'a str]; 2],
}

/// How often each moment was hit.
#[derive(Debug, Default)]
struct Hits {
    running: u64,
    writing: u64,
    finished: u64,
}

impl Crash<'_> {
    /// Kills the command again and again. Returns how often it was hit while it ran, and while it
    /// wrote.
    fn check(&self) -> Hits {
        let complete = |arguments: &[&str]| {
            self.project.run(arguments).expect_code(0);
            contents(self.project, self.directory)
        };
        let new = complete(self.arguments[1]);
        let begun = Instant::now();
        let old = complete(self.arguments[0]);
        let mut duration = begun.elapsed();
        assert_ne!(old, new, "the command does not change anything");
        let mut hits = Hits::default();
        let mut states = [&old, &new];
        // Runs that ended before they were killed do not count. On a busy machine, moments are far
        // from where they aim.
        for seed in 0..kills() * 8 {
            if hits.running + hits.writing >= kills() && hits.writing > 0 {
                break;
            }
            let command = usize::from(states[0] == &old);
            let finished = hits.finished;
            self.kill(self.arguments[command], seed, duration, &mut hits);
            duration = duration.mul_f64(if hits.finished > finished { 0.8 } else { 1.1 });
            assert_old_or_new(
                self.project,
                self.directory,
                &states,
                &format!("kill {seed}"),
            );
            // The next run succeeds, and nothing is left of the killed one.
            assert_eq!(
                &complete(self.arguments[command]),
                states[1],
                "after kill {seed}"
            );
            states.reverse();
        }
        assert!(
            hits.running + hits.writing > 0,
            "every run ended before it was killed: {hits:?}"
        );
        hits
    }

    fn kill(&self, arguments: &[&str], seed: u64, duration: Duration, hits: &mut Hits) {
        let mut command = self.project.command();
        let mut child = silent(command.args(arguments))
            .spawn()
            .expect("the binary starts");
        // Odd kills aim at the part in which files are written, which is short.
        let delay = if seed.is_multiple_of(2) {
            duration
        } else {
            WRITING
        }
        .mul_f64(fraction(seed));
        if !seed.is_multiple_of(2) {
            let mut running = || child.try_wait().is_ok_and(|status| status.is_none());
            while running() && !has_temporary(self.project, self.directory) {
                thread::sleep(Duration::from_micros(50));
            }
        }
        thread::sleep(delay);
        let ended = child.try_wait().expect("the state is known").is_some();
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        match (ended, has_temporary(self.project, self.directory)) {
            (true, _) => hits.finished += 1,
            (false, true) => hits.writing += 1,
            (false, false) => hits.running += 1,
        }
    }
}

fn silent(command: &mut Command) -> &mut Command {
    command.stdout(Stdio::null()).stderr(Stdio::null())
}

/// Whether a temporary file of a running or of a killed process is in `directory`.
fn has_temporary(project: &Project, directory: &str) -> bool {
    let Ok(entries) = fs::read_dir(project.path(directory)) else {
        return false;
    };
    entries
        .filter_map(Result::ok)
        .any(|entry| entry.file_name().to_string_lossy().starts_with(".testgen-"))
}

#[test]
fn generate() {
    let project = Project::empty();
    write_specs(&project, "a", "old");
    write_specs(&project, "b", "new");
    let arguments: [&[&str]; 2] = [
        &["generate", "--specs", "a", "--out", "suite"],
        &["generate", "--specs", "b", "--out", "suite"],
    ];
    println!(
        "{:?}",
        Crash {
            project: &project,
            directory: "suite",
            arguments
        }
        .check()
    );
}

#[test]
fn report() {
    let project = Project::empty();
    write_report(&project, "a.jsonl", "old", 2000);
    write_report(&project, "b.jsonl", "new", 2000);
    let arguments: [&[&str]; 2] = [
        &["report", "a.jsonl", "--out", "out/page.html"],
        &["report", "b.jsonl", "--out", "out/page.html"],
    ];
    println!(
        "{:?}",
        Crash {
            project: &project,
            directory: "out",
            arguments
        }
        .check()
    );
}

#[test]
fn add() {
    let project = Project::empty();
    project.write(
        "checkpoint/config.json",
        r#"{"model_type": "bert", "architectures": ["BertModel"]}"#,
    );
    let arguments: [&[&str]; 2] = [
        &[
            "add",
            "checkpoint",
            "--force",
            "--specs",
            "specs",
            "--comment",
            "old",
        ],
        &[
            "add",
            "checkpoint",
            "--force",
            "--specs",
            "specs",
            "--comment",
            "new",
        ],
    ];
    println!(
        "{:?}",
        Crash {
            project: &project,
            directory: "specs/encoder_only",
            arguments
        }
        .check()
    );
}

#[test]
fn matrix() {
    let project = Project::with_bert();
    let arguments: [&[&str]; 2] = [
        &["matrix", "--write", "--out", "old"],
        &["matrix", "--write", "--out", "new"],
    ];
    println!(
        "{:?}",
        Crash {
            project: &project,
            directory: ".github/workflows",
            arguments
        }
        .check()
    );
}

/// The suite ends together with the command; the report is that of the last complete run.
#[test]
fn run() {
    let project = Project::with_bert();
    let report = |rules: &str| {
        crate::fake::suite::run(&project, rules, &["--device", "cpu"]).expect_code(0);
        contents(&project, "target/testgen")
    };
    let old = report("");
    let mut kept: BTreeMap<String, Vec<u8>> = old.clone();
    for seed in 0..kills().div_ceil(6) {
        let mut command =
            crate::fake::suite::command(&project, "::cpu::finite_f16|sleep|", &["--device", "cpu"]);
        let mut child = silent(&mut command).spawn().expect("the binary starts");
        wait_for("the suite starts", || {
            has_temporary(&project, "target/testgen")
        });
        thread::sleep(Duration::from_millis(100).mul_f64(fraction(seed)));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        assert!(
            has_temporary(&project, "target/testgen"),
            "it was killed while the suite ran"
        );
        // The suite would sleep for longer; the kernel ends it with the command that started it.
        let suite = project.path("generated").display().to_string();
        wait_for("the suite ends", || !is_running(&suite));
        assert_old_or_new(
            &project,
            "target/testgen",
            &[&kept],
            &format!("kill {seed}"),
        );
        kept = report("");
        let names: Vec<&String> = kept.keys().collect();
        assert_eq!(
            names,
            old.keys().collect::<Vec<_>>(),
            "nothing is left of the killed run"
        );
    }
}

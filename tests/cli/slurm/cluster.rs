//! A Slurm cluster on this machine: each node is a slurmd with one processor and one GPU, of which
//! Slurm only counts the number.

use crate::watchdog::LIMIT;
use std::{
    env, fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Set where missing programs of Slurm must fail the test instead of skipping it, as in CI.
const REQUIRE: &str = "TESTGEN_REQUIRE_SLURM";
const PROGRAMS: [&str; 5] = ["munged", "slurmctld", "slurmd", "sbatch", "scancel"];

/// Stopped when dropped, with all processes of its jobs.
pub(super) struct Cluster {
    directory: TempDir,
    daemons: Vec<Child>,
    nodes: Vec<(String, Child)>,
}

impl Cluster {
    /// Starts the nodes, or `None` without Slurm, which is printed.
    pub(super) fn start<const N: usize>(names: [&str; N]) -> Option<Self> {
        if let Some(missing) = PROGRAMS.into_iter().find(|program| !is_installed(program)) {
            assert!(
                env::var_os(REQUIRE).is_none(),
                "{REQUIRE} is set, and there is no {missing} in PATH"
            );
            eprintln!(
                "skipped: no {missing} in PATH; `apt-get install munge slurmctld slurmd slurm-client` has it"
            );
            return None;
        }
        let directory = TempDir::new().expect("the temporary directory can be written");
        let mut cluster = Self {
            directory,
            daemons: Vec::new(),
            nodes: Vec::new(),
        };
        cluster.configure(&names);
        let munge = cluster.daemon("munged", &munge_arguments(cluster.directory.path()));
        cluster.daemons.push(munge);
        cluster.wait("munge socket", |cluster| {
            cluster.directory.path().join("munge.sock").exists()
        });
        let control = cluster.daemon("slurmctld", &["-D".to_owned()]);
        cluster.daemons.push(control);
        for name in names {
            let node = cluster.daemon(
                "slurmd",
                &["-D".to_owned(), "-N".to_owned(), name.to_owned()],
            );
            cluster.nodes.push((name.to_owned(), node));
        }
        cluster.wait("nodes", |cluster| cluster.idle_nodes() == N);
        Some(cluster)
    }

    /// A command that uses this cluster.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // Jobs of Slurm that run this test have variables of their own.
        let foreign = env::vars_os()
            .filter(|(name, _)| name.to_str().is_some_and(|name| name.starts_with("SLURM")));
        foreign.for_each(|(name, _)| {
            command.env_remove(name);
        });
        command
            .env("SLURM_CONF", self.directory.path().join("slurm.conf"))
            .env("PATH", path())
            .stdin(Stdio::null());
        command
    }

    /// Kills a node as a power failure does, and reports it as down, as an administrator does
    /// before Slurm notices it.
    pub(super) fn fail(&mut self, name: &str) {
        self.kill(name);
        let node = format!("NodeName={name}");
        let status = self
            .command("scontrol")
            .args(["update", &node, "State=DOWN", "Reason=power"])
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "{}",
            self.log()
        );
    }

    /// Kills a node with everything that runs on it.
    fn kill(&mut self, name: &str) {
        let jobs = self.processes(name);
        let steps: Vec<u32> = jobs
            .iter()
            .filter_map(|process| parent(*process))
            .filter(|parent| is_step(*parent))
            .collect();
        if let Some((_, node)) = self.nodes.iter_mut().find(|(node, _)| node == name) {
            let _ = node.kill();
            let _ = node.wait();
        }
        let all = steps
            .into_iter()
            .chain(jobs)
            .map(|process| process.to_string());
        let _ = Command::new("kill")
            .arg("-KILL")
            .args(all)
            .stderr(Stdio::null())
            .status();
    }

    /// The ends of the logs of all daemons.
    pub(super) fn log(&self) -> String {
        let names = self
            .nodes
            .iter()
            .map(|(name, _)| format!("slurmd.{name}"))
            .chain(["slurmctld".to_owned()]);
        let end = |name: String| {
            let text = fs::read_to_string(self.directory.path().join(format!("{name}.log")))
                .unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(15).collect();
            format!(
                "{name}\n{}\n",
                lines.into_iter().rev().collect::<Vec<_>>().join("\n")
            )
        };
        names.map(end).collect()
    }

    fn configure(&self, names: &[&str]) {
        let output = Command::new("hostname")
            .arg("-s")
            .output()
            .expect("the machine has a name");
        let host = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let user = Command::new("id")
            .arg("-un")
            .output()
            .expect("the user has a name");
        let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
        let ports = free_ports(names.len() + 1);
        let directory = self.directory.path().display().to_string();
        let mut text = include_str!("slurm.conf")
            .replace("@DIRECTORY@", &directory)
            .replace("@HOST@", &host);
        text = text
            .replace("@USER@", &user)
            .replace("@PORT@", &ports[0].to_string());
        for (name, port) in names.iter().zip(&ports[1..]) {
            text += &format!(
                "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 Gres=gpu:1\n"
            );
        }
        text += "PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
        let write = |name: &str, text: &[u8]| {
            fs::write(self.directory.path().join(name), text).expect("a file can be written")
        };
        write("slurm.conf", text.as_bytes());
        write("gpu", b"");
        write(
            "gres.conf",
            format!("Name=gpu Count=1 File={directory}/gpu\n").as_bytes(),
        );
        write("munge.key", &[7; 128]);
        let restrict = Command::new("chmod")
            .arg("600")
            .arg(self.directory.path().join("munge.key"))
            .status();
        assert!(restrict.is_ok_and(|status| status.success()));
        fs::create_dir(self.directory.path().join("state")).expect("a directory can be made");
    }

    fn daemon(&self, program: &str, arguments: &[String]) -> Child {
        let mut command = self.command(program);
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    fn wait(&self, what: &str, is_ready: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !is_ready(self) {
            assert!(
                started.elapsed() < LIMIT,
                "no {what} after {LIMIT:?}\n{}",
                self.log()
            );
            sleep(Duration::from_millis(200));
        }
    }

    fn idle_nodes(&self) -> usize {
        let output = self
            .command("sinfo")
            .args(["--noheader", "--Node", "--format=%t"])
            .output();
        output.map_or(0, |output| {
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .filter(|state| *state == "idle")
                .count()
        })
    }

    /// The processes of jobs on a node of this cluster, by the variables that Slurm sets.
    fn processes(&self, node: &str) -> Vec<u32> {
        let node = format!("SLURMD_NODENAME={node}");
        let config = format!(
            "SLURM_CONF={}",
            self.directory.path().join("slurm.conf").display()
        );
        let runs = |process: &u32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let has = |variable: &str| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|found| found == variable.as_bytes())
            };
            has(&node) && has(&config)
        };
        let entries = fs::read_dir("/proc")
            .expect("Linux has processes")
            .filter_map(Result::ok);
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(runs)
            .collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let names: Vec<String> = self.nodes.iter().map(|(name, _)| name.clone()).collect();
        names.iter().for_each(|name| self.kill(name));
        for daemon in self.daemons.iter_mut().rev() {
            // slurmctld has a child of its own, which it stops.
            let _ = Command::new("kill")
                .arg("-TERM")
                .arg(daemon.id().to_string())
                .status();
            let _ = daemon.wait();
        }
    }
}

fn munge_arguments(directory: &Path) -> Vec<String> {
    let file = |option: &str, name: &str| format!("--{option}={}", directory.join(name).display());
    let files = [
        file("key-file", "munge.key"),
        file("socket", "munge.sock"),
        file("pid-file", "munged.pid"),
        file("log-file", "munged.log"),
        file("seed-file", "munged.seed"),
    ];
    // The temporary directory is writable for others, which munged refuses otherwise.
    ["--foreground".to_owned(), "--force".to_owned()]
        .into_iter()
        .chain(files)
        .collect()
}

/// Daemons are in directories of the administrator.
fn path() -> String {
    format!("{}:/usr/sbin:/sbin", env::var("PATH").unwrap_or_default())
}

fn is_installed(program: &str) -> bool {
    env::split_paths(&path()).any(|directory| directory.join(program).is_file())
}

fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port is free"))
        .collect();
    listeners
        .iter()
        .map(|listener| listener.local_addr().expect("it has an address").port())
        .collect()
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

/// The process of Slurm that starts a job.
fn is_step(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm"))
        .is_ok_and(|name| name.trim() == "slurmstepd")
}

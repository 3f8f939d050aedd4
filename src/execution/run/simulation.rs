//! `--simulate`: the software HIP device (`hip-sim`) in place of an AMD GPU, visible to the suite's
//! process only.
//!
//! Cargo builds it from the source tree on first use, and its files are arranged like a ROCm
//! installation. The simulator itself validates the requested devices.

use super::{RunError, cargo};
use crate::settings::{Runtime, Settings};
use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    str::FromStr,
};
use testgen_base::{child_process, progress::RunProgress};

/// The value of `--simulate`: `rocm`, or `rocm=gfx90a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// The devices in the syntax of `HIP_SIM_DEVICES`, or `None` for the simulator's default.
    devices: Option<String>,
}

/// A device that cannot be simulated.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "only rocm can be simulated: write rocm, rocm=gfx90a, or rocm='gfx1100;gfx90a' for two devices"
)]
pub struct SimulationError;

impl FromStr for Simulation {
    type Err = SimulationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            None if text == "rocm" => Ok(Self { devices: None }),
            Some(("rocm", devices)) if !devices.is_empty() => Ok(Self {
                devices: Some(devices.to_owned()),
            }),
            _ => Err(SimulationError),
        }
    }
}

impl Simulation {
    /// Builds the simulator and returns the environment variables that activate it.
    ///
    /// # Errors
    ///
    /// When the simulator's source code is missing, it does not build, or it rejects the requested
    /// devices.
    pub fn prepare(
        &self,
        settings: &Settings,
        progress: &mut RunProgress,
    ) -> Result<Vec<(&'static str, OsString)>, RunError> {
        let manifest = manifest(settings)?;
        progress.stage("simulating", &manifest.display().to_string());
        let root = install(&build(&manifest, progress.is_quiet())?)?;
        let environment = environment(&root, self.devices.as_deref());
        // After the installation, because the simulator's own program answers.
        validate(&root, &environment)?;
        progress.end("simulated", self.devices.as_deref().unwrap_or("rocm"));
        Ok(environment)
    }
}

/// The simulator's Cargo.toml, next to the runtime as in the source tree.
fn manifest(settings: &Settings) -> Result<PathBuf, RunError> {
    // The checkout around the suite is first, as for the runtime.
    let above_suite = settings.out.ancestors().skip(1).map(Path::to_path_buf);
    let checkouts = above_suite.chain([env!("CARGO_MANIFEST_DIR").into()]);
    let manifests: Vec<PathBuf> = match &settings.runtime {
        Some(Runtime::Path(runtime)) => vec![runtime.join("../hip-sim/Cargo.toml")],
        Some(Runtime::Version(_)) | None => checkouts
            .map(|root| root.join("crates/hip-sim/Cargo.toml"))
            .collect(),
    };
    manifests
        .into_iter()
        .find(|manifest| manifest.is_file())
        .ok_or(RunError::NoSimulator)
}

/// The built files, by the names of their cargo targets.
struct Artifacts(Vec<(String, PathBuf)>);

impl Artifacts {
    fn path(&self, target: &str) -> Result<&Path, RunError> {
        let found = self.0.iter().find(|(name, _)| name == target);
        found
            .map(|(_, path)| path.as_path())
            .ok_or_else(|| RunError::SimulatorIncomplete {
                target: target.to_owned(),
            })
    }
}

fn build(manifest: &Path, quiet: bool) -> Result<Artifacts, RunError> {
    child_process::watch_interrupts();
    let program = cargo::program();
    let mut command = Command::new(&program);
    command
        .arg("build")
        .args(cargo::MESSAGES)
        .arg("--manifest-path")
        .arg(manifest);
    // Named, since the packages below replace the package that cargo would choose.
    command.args(["--package", "hip-sim"]);
    command.args(
        LIBRARIES
            .iter()
            .flat_map(|(package, _)| ["--package", package]),
    );
    command
        .args(quiet.then_some("--quiet"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output = command
        .output()
        .map_err(|source| RunError::CargoMissing { program, source })?;
    if !output.status.success() {
        return Err(RunError::Build {
            manifest: manifest.to_path_buf(),
            status: output.status,
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let artifacts = cargo::artifacts(&text).filter_map(|artifact| {
        // Cargo also lists the `.rlib` files of a target, which no loader opens.
        let is_library_or_program =
            |path: &PathBuf| path.extension().is_none_or(|extension| extension == "so");
        Some((
            artifact.target.name,
            artifact.files.into_iter().find(is_library_or_program)?,
        ))
    });
    Ok(Artifacts(artifacts.collect()))
}

/// The simulated libraries: their packages, and their names in ROCm.
const LIBRARIES: &[(&str, &str)] = &[
    ("hip-sim-amdhip64", "libamdhip64.so"),
    ("hip-sim-hiprtc", "libhiprtc.so"),
    ("hip-sim-rocblas", "librocblas.so"),
    ("hip-sim-hipblaslt", "libhipblaslt.so"),
    ("hip-sim-miopen", "libMIOpen.so"),
];

/// Arranges the built files like a ROCm installation in `hip-sim/` next to them, and returns its
/// path.
fn install(artifacts: &Artifacts) -> Result<PathBuf, RunError> {
    let hipconfig = artifacts.path("hip-sim-hipconfig")?;
    let root = hipconfig.parent().unwrap_or(Path::new(".")).join("hip-sim");
    let mut files = vec![(hipconfig, root.join("bin/hipconfig"))];
    for (package, name) in LIBRARIES {
        files.push((
            artifacts.path(&package.replace('-', "_"))?,
            root.join("lib").join(name),
        ));
    }
    for (from, to) in files {
        replace(from, &to).map_err(|source| RunError::Write { path: to, source })?;
    }
    Ok(root)
}

/// Copies a file atomically.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    // An equal file stays, because a running suite may have it open.
    if fs::read(to).is_ok_and(|there| fs::read(from).is_ok_and(|here| here == there)) {
        return Ok(());
    }
    // Atomically, because another run may have loaded the previous copy.
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let temporary = tempfile::Builder::new()
        .tempfile_in(folder)?
        .into_temp_path();
    fs::copy(from, &temporary)?;
    temporary.persist(to).map_err(|error| error.error)
}

/// Places the simulator before a real ROCm installation in every variable that burn searches.
fn environment(root: &Path, devices: Option<&str>) -> Vec<(&'static str, OsString)> {
    // The rest of the path stays, because the suite starts other programs, too.
    let path = env::var_os("PATH").unwrap_or_default();
    // First, because a real ROCm has a `hipconfig`, too.
    let folders = std::iter::once(root.join("bin")).chain(env::split_paths(&path));
    let mut environment = vec![
        ("ROCM_PATH", root.into()),
        ("HIP_PATH", root.into()),
        ("PATH", env::join_paths(folders).unwrap_or(path)),
    ];
    environment.extend(devices.map(|devices| ("HIP_SIM_DEVICES", devices.into())));
    environment
}

/// Asks the simulator whether it supports the requested devices.
fn validate(root: &Path, environment: &[(&'static str, OsString)]) -> Result<(), RunError> {
    let binary = root.join("bin/hipconfig");
    let output = Command::new(&binary)
        .arg("--check")
        .envs(environment.iter().cloned())
        .output();
    let output = output.map_err(|source| RunError::Start { binary, source })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(RunError::Simulation { message });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Simulation, SimulationError, environment};
    use std::path::Path;

    #[test]
    fn only_rocm_can_be_simulated() {
        let devices = |text: &str| {
            text.parse::<Simulation>()
                .map(|simulation| simulation.devices)
        };
        assert_eq!(devices("rocm"), Ok(None));
        assert_eq!(
            devices("rocm=gfx1100;gfx90a"),
            Ok(Some("gfx1100;gfx90a".to_owned()))
        );
        for text in ["", "cuda", "rocm=", "rocm:1", "cuda=sm_90"] {
            assert_eq!(devices(text), Err(SimulationError), "{text}");
        }
    }

    #[test]
    fn the_simulator_comes_first() {
        let environment = environment(Path::new("/t/hip-sim"), Some("gfx90a"));
        let value = |name: &str| {
            let (_, value) = environment
                .iter()
                .find(|(key, _)| *key == name)
                .expect("is set");
            value.to_str().expect("is text").to_owned()
        };
        assert_eq!(
            (value("ROCM_PATH"), value("HIP_SIM_DEVICES")),
            ("/t/hip-sim".to_owned(), "gfx90a".to_owned())
        );
        assert!(value("PATH").starts_with("/t/hip-sim/bin:"));
    }
}

//! The user's tuning of the libraries that compute: variables, and the files that they name. Two
//! runs with different ones may compute with different kernels.
//!
//! Owns: which variables these are, for which engines they count, and how reports show them. A
//! report has no path, so that it is the same on every machine.

use crate::{call::DeviceClass, command::LIBRARIES, tuned_files::content_digest};
use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use testgen_types::excerpt;

/// Libraries with the variables that tune them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryTuning {
    /// hipBLASLt, and rocBLAS, which may call it; both choose with Tensile.
    Products,
    /// MIOpen.
    Convolutions,
    /// PyTorch: TunableOp, and which of AMD's libraries it calls.
    Pytorch,
}

impl LibraryTuning {
    const ALL: [Self; 3] = [Self::Products, Self::Convolutions, Self::Pytorch];

    /// The libraries of an engine that is a process, on a device of this kind.
    pub(crate) fn of_engine(program: &str, device: DeviceClass) -> &'static [Self] {
        match (device, program) {
            // On the CPU none of these libraries computes.
            (DeviceClass::Cpu, _) => &[],
            (_, "rocblas" | "hipblaslt") => &[Self::Products],
            // MIOpen computes some convolutions as products.
            (_, "miopen") => &[Self::Products, Self::Convolutions],
            (DeviceClass::Cuda, library) if LIBRARIES.contains(&library) => &[],
            // An engine of the user's may compute with PyTorch, too.
            (DeviceClass::Cuda, _) => &[Self::Pytorch],
            // PyTorch for ROCm multiplies with hipBLASLt or rocBLAS, and convolves with MIOpen.
            (DeviceClass::Rocm, _) => &Self::ALL,
        }
    }

    /// The variables that are set, for instance `MIOPEN_FIND_MODE=FAST`, each file with a digest of
    /// its content in place of its path. They are the ones of the first call in this process,
    /// because libraries add to their databases while they compute.
    pub fn state(self) -> Vec<String> {
        static STATE: LazyLock<BTreeMap<String, String>> =
            LazyLock::new(|| shown(&variables(), env::home_dir().as_deref()));
        STATE
            .iter()
            .filter(|(name, _)| self.has(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    fn has(self, variable: &str) -> bool {
        let prefixes: &[&str] = match self {
            Self::Products => &["HIPBLASLT_", "ROCBLAS_", "TENSILE_"],
            Self::Convolutions => &["MIOPEN_"],
            Self::Pytorch => &[
                "PYTORCH_MIOPEN_",
                "PYTORCH_TUNABLEOP_",
                "TORCH_BLAS_PREFER_",
            ],
        };
        prefixes.iter().any(|prefix| variable.starts_with(prefix))
    }
}

/// Parts of the names of variables that choose no kernel: logs, compiled kernels, and the list of
/// products that TunableOp writes to be tuned later.
const WITHOUT_EFFECT: [&str; 4] = ["_LOG", "_VERBOSE", "_CACHE_DIR", "_UNTUNED"];

/// The ends of the names of variables whose value is a file or a directory.
const FILES: [&str; 4] = ["_FILE", "_FILENAME", "PATH", "_DIR"];

/// The directory of MIOpen's databases of the user.
const USER_DATABASES: &str = "MIOPEN_USER_DB_PATH";

/// The file of TunableOp's results.
const TUNABLE_OP_FILE: &str = "PYTORCH_TUNABLEOP_FILENAME";

/// The variable that switches TunableOp on.
const TUNABLE_OP: &str = "PYTORCH_TUNABLEOP_ENABLED";

/// The variables of this process that tune a library.
fn variables() -> BTreeMap<String, String> {
    env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Some((name, value.to_string_lossy().into_owned()))
        })
        .collect()
}

/// The variables that tune a library as reports show them, and the files that are read although no
/// variable names them.
fn shown(variables: &BTreeMap<String, String>, home: Option<&Path>) -> BTreeMap<String, String> {
    let tunes = |name: &str| {
        let mut libraries = LibraryTuning::ALL.iter();
        libraries.any(|library| library.has(name))
            // A log or a cache in the report would make equal runs look different.
            && !WITHOUT_EFFECT.iter().any(|part| name.contains(part))
    };
    let set = variables.iter().filter(|(name, _)| tunes(name));
    let mut shown: BTreeMap<String, String> = set
        .map(|(name, value)| (name.clone(), shown_value(name, value, home)))
        .collect();
    let defaults = [
        home.map(|home| (USER_DATABASES, home.join(".config/miopen"))),
        variables
            .get(TUNABLE_OP)
            // TunableOp reads its default file only if it is on.
            .filter(|value| *value == "1")
            .map(|_| (TUNABLE_OP_FILE, PathBuf::from("tunableop_results.csv"))),
    ];
    for (name, path) in defaults.into_iter().flatten() {
        // An empty variable of the user means that there is no such file.
        if !shown.contains_key(name)
            && let Some(digest) = content_digest(&path)
        {
            shown.insert(name.to_owned(), digest);
        }
    }
    shown
}

fn shown_value(name: &str, value: &str, home: Option<&Path>) -> String {
    // A slash, too: a path in a variable with another name would differ between machines.
    let is_path = FILES.iter().any(|end| name.ends_with(end)) || value.contains('/');
    if !is_path || value.is_empty() {
        return excerpt(value).into_owned();
    }
    // The libraries read `~` themselves.
    let path = match (value.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(value),
    };
    // A variable that names nothing is still set, so that it is listed.
    content_digest(&path).unwrap_or_else(|| "empty".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{LibraryTuning, shown};
    use crate::call::DeviceClass;
    use std::{collections::BTreeMap, fs, path::Path};

    fn shown_of(variables: &[(&str, &str)], home: Option<&Path>) -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        shown(&variables.iter().map(owned).collect(), home)
    }

    #[test]
    fn variables_that_choose_kernels_are_shown() {
        let shown = shown_of(
            &[
                ("MIOPEN_FIND_ENFORCE", "3"),
                ("MIOPEN_LOG_LEVEL", "5"),
                ("MIOPEN_CUSTOM_CACHE_DIR", "/tmp/kernels"),
                ("HIPBLASLT_LOG_FILE", "/tmp/log"),
                ("PYTORCH_TUNABLEOP_TUNING", "0"),
                ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
                ("ROCBLAS_USE_HIPBLASLT", "1"),
            ],
            None,
        );
        let expected = [
            ("MIOPEN_FIND_ENFORCE", "3"),
            ("PYTORCH_TUNABLEOP_TUNING", "0"),
            ("ROCBLAS_USE_HIPBLASLT", "1"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(shown, BTreeMap::from(expected));
    }

    #[test]
    fn a_file_is_shown_by_its_content() {
        let folder = tempfile::tempdir().expect("there is a temporary directory");
        let at = |name: &str| folder.path().join(name);
        let name = "HIPBLASLT_TUNING_OVERRIDE_FILE";
        let value = |path: &Path| {
            let path = path.to_str().expect("is UTF-8");
            shown_of(&[(name, path)], None).remove(name)
        };
        assert_eq!(value(&at("absent")).as_deref(), Some("empty"));
        for (file, text) in [("a", "index 1"), ("b", "index 1"), ("c", "index 2")] {
            fs::write(at(file), text).expect("is writable");
        }
        assert_eq!(value(&at("a")), value(&at("b")));
        assert_ne!(value(&at("a")), value(&at("c")));
        let digest = value(&at("a")).expect("is set");
        assert!(digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
    }

    #[test]
    fn the_databases_of_a_user_are_shown_without_a_variable() {
        let home = tempfile::tempdir().expect("there is a temporary directory");
        let databases = home.path().join(".config/miopen");
        fs::create_dir_all(&databases).expect("is writable");
        let default = |variables: &[(&str, &str)]| {
            shown_of(variables, Some(home.path())).remove("MIOPEN_USER_DB_PATH")
        };
        fs::write(databases.join("gfx942.ukdb"), "kernels").expect("is writable");
        assert_eq!(default(&[]), None);
        fs::write(databases.join("gfx942.ufdb.txt"), "solver 1").expect("is writable");
        let first = default(&[]);
        assert!(first.is_some());
        assert_eq!(
            default(&[("MIOPEN_USER_DB_PATH", "~/.config/miopen")]),
            first
        );
        let none = default(&[("MIOPEN_USER_DB_PATH", "")]);
        assert_eq!(none.as_deref(), Some(""));
        fs::write(databases.join("gfx942.ufdb.txt"), "solver 2").expect("is writable");
        assert_ne!(default(&[]), first);
    }

    #[test]
    fn results_of_tunable_op_are_found_by_the_number_of_the_device() {
        let folder = tempfile::tempdir().expect("there is a temporary directory");
        let results = folder.path().join("results.csv");
        let name = "PYTORCH_TUNABLEOP_FILENAME";
        let value = || {
            let path = results.to_str().expect("is UTF-8");
            shown_of(&[(name, path)], None).remove(name)
        };
        fs::write(folder.path().join("results_old.csv"), "Default").expect("is writable");
        assert_eq!(value().as_deref(), Some("empty"));
        fs::write(folder.path().join("results0.csv"), "Gemm_Rocblas_1").expect("is writable");
        let first = value();
        assert_ne!(first.as_deref(), Some("empty"));
        fs::write(folder.path().join("results0.csv"), "Gemm_Rocblas_2").expect("is writable");
        assert_ne!(value(), first);
    }

    #[test]
    fn an_engine_has_the_tuning_of_its_libraries() {
        use LibraryTuning::{Convolutions, Products, Pytorch};
        let libraries: [(&str, DeviceClass, &[LibraryTuning]); 6] = [
            ("torch", DeviceClass::Cpu, &[]),
            ("torch", DeviceClass::Cuda, &[Pytorch]),
            (
                "torch",
                DeviceClass::Rocm,
                &[Products, Convolutions, Pytorch],
            ),
            ("hipblaslt", DeviceClass::Rocm, &[Products]),
            ("miopen", DeviceClass::Rocm, &[Products, Convolutions]),
            ("cudnn", DeviceClass::Cuda, &[]),
        ];
        for (program, device, expected) in libraries {
            let own = LibraryTuning::of_engine(program, device);
            assert_eq!(own, expected, "{program}");
        }
    }
}

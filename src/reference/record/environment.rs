//! The environment of the recorder's Python: only the variables listed here, so that nothing else
//! changes which code runs.

use std::process::Command;

/// The variables that are passed on, each with its use.
// Python itself runs with `-I` and ignores its variables: `PYTHONPATH`, `PYTHONHOME`,
// `PYTHONSTARTUP` and packages in the user's home have no effect. A virtual environment is found
// from the path of its Python, so `VIRTUAL_ENV` is not needed.
const KEPT: [(&str, &str); 6] = [
    ("PATH", "finds `python3`; some packages start programs"),
    ("HOME", "transformers creates its cache directory there"),
    ("TMPDIR", "temporary files"),
    ("LANG", "the encoding of file names"),
    ("LC_ALL", "the encoding of file names"),
    (
        "LD_LIBRARY_PATH",
        "system libraries of Python and torch where they are not in the standard directories (Nix, modules)",
    ),
];

/// The variables that are set.
// The Hub is never asked, whatever the user's environment contains.
const SET: [(&str, &str); 3] = [
    ("HF_HUB_OFFLINE", "1"),
    ("HF_HUB_DISABLE_TELEMETRY", "1"),
    ("TOKENIZERS_PARALLELISM", "false"),
];

/// Replaces the environment of `command`.
pub(super) fn scrub(command: &mut Command) {
    command.env_clear();
    command.envs(
        KEPT.iter()
            .filter_map(|(name, _)| Some((name, std::env::var_os(name)?))),
    );
    command.envs(SET);
}

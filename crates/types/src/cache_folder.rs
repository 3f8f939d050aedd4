//! The folder of everything that testgen keeps between runs.

use std::{ffi::OsString, path::PathBuf};

/// The variable that names the folder.
pub const CACHE_VARIABLE: &str = "TESTGEN_CACHE";

/// `$TESTGEN_CACHE`, else `$XDG_CACHE_HOME/testgen`, else `$HOME/.cache/testgen`, by the variables
/// that `variable` reads; `None` if none of them is set.
pub fn cache_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| {
        variable(name)
            // XDG: an empty variable counts as unset.
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    path(CACHE_VARIABLE)
        .or_else(|| {
            path("XDG_CACHE_HOME")
                // XDG: relative paths are invalid and ignored.
                .filter(|path| path.is_absolute())
                .map(|folder| folder.join("testgen"))
        })
        .or_else(|| {
            path("HOME")
                .filter(|path| path.is_absolute())
                .map(|folder| folder.join(".cache").join("testgen"))
        })
}

#[cfg(test)]
mod tests {
    use super::cache_folder;
    use std::{ffi::OsString, path::PathBuf};

    #[test]
    fn the_first_variable_that_is_set_names_the_folder() {
        let folder = |set: &[(&str, &str)]| {
            let set: Vec<(String, OsString)> = set
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.into()))
                .collect();
            cache_folder(|name| {
                set.iter()
                    .find(|(set, _)| set == name)
                    .map(|(_, value)| value.clone())
            })
        };
        let all = [
            ("TESTGEN_CACHE", "here"),
            ("XDG_CACHE_HOME", "/xdg"),
            ("HOME", "/home/me"),
        ];
        assert_eq!(folder(&all), Some(PathBuf::from("here")));
        assert_eq!(folder(&all[1..]), Some(PathBuf::from("/xdg/testgen")));
        assert_eq!(
            folder(&[("TESTGEN_CACHE", ""), ("HOME", "/home/me")]),
            Some(PathBuf::from("/home/me/.cache/testgen"))
        );
        assert_eq!(folder(&[("XDG_CACHE_HOME", "relative")]), None);
    }
}

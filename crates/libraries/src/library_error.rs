//! Errors of libraries.

use testgen_device::SharedLibrary;

/// An error of a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// A status other than success.
    #[error("{function} returned {code}, {name}")]
    Status {
        /// The function.
        function: String,
        /// The number.
        code: i32,
        /// The name in the library's header.
        name: String,
    },
    /// The library does not have this combination of types or sizes.
    #[error("not supported: {reason}")]
    Unsupported {
        /// The library's answer.
        reason: String,
    },
    /// A function that the library must have is missing.
    #[error("`{library}` lacks `{symbol}`; install a newer version")]
    Symbol {
        /// The file.
        library: String,
        /// The function.
        symbol: String,
    },
    /// A computation changed memory outside of its result.
    #[error("the library has changed other memory: {place}")]
    Overwritten {
        /// The place.
        place: String,
    },
    /// Memory of the device.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
}

impl LibraryError {
    /// The items that a library lists: none for a call that it does not have.
    pub(crate) fn none_if_unsupported<T>(listed: Result<Vec<T>, Self>) -> Result<Vec<T>, Self> {
        match listed {
            Err(Self::Unsupported { .. }) => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// Whether the library calls an argument invalid.
    pub(crate) fn is_invalid_argument(&self) -> bool {
        // `CUBLAS_STATUS_INVALID_VALUE` and `rocblas_status_invalid_size` have other prefixes and
        // cases.
        let is_named = |name: &str| {
            ["invalid_value", "invalid_size"]
                .iter()
                .any(|end| name.to_lowercase().ends_with(end))
        };
        matches!(self, Self::Status { name, .. } if is_named(name))
    }

    /// `library` lacks the function `symbol`.
    pub(crate) fn missing(library: &SharedLibrary, symbol: String) -> Self {
        Self::Symbol {
            library: library.path().to_owned(),
            symbol,
        }
    }

    /// The library does not have a combination, for `reason`.
    pub(crate) fn unsupported(reason: &str) -> Self {
        Self::Unsupported {
            reason: reason.to_owned(),
        }
    }
}

/// The numbers of a library's statuses with their names.
pub(crate) type StatusNames = &'static [(i32, &'static str)];

/// `Ok` for 0; an error with the name of the status otherwise.
pub(crate) fn check(
    function: &str,
    code: i32,
    names: StatusNames,
    unsupported: &[i32],
) -> Result<(), LibraryError> {
    let name = names
        .iter()
        .find(|(number, _)| *number == code)
        .map_or("unknown status", |(_, name)| *name);
    match code {
        0 => Ok(()),
        code if unsupported.contains(&code) => Err(LibraryError::Unsupported {
            reason: format!("{function} returned {code}, {name}"),
        }),
        code => Err(LibraryError::Status {
            function: function.to_owned(),
            code,
            name: name.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{LibraryError, check};
    use crate::{classic::RocblasNumbers, lt::CUBLAS_STATUSES};

    #[test]
    fn invalid_arguments_are_known_by_their_names() {
        let is_invalid = |code, names| {
            let error: LibraryError = check("f", code, names, &[]).expect_err("is an error");
            error.is_invalid_argument()
        };
        assert_eq!(
            [7, 14].map(|code| is_invalid(code, CUBLAS_STATUSES)),
            [true, false]
        );
        assert_eq!(
            [4, 6, 11].map(|code| is_invalid(code, RocblasNumbers::STATUSES)),
            [true, false, true]
        );
    }
}

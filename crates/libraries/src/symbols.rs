//! Tables of functions of a library that was opened at run time.

/// Defines a structure of function pointers with `load`, which returns the name of the first
/// function that is missing.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($field:ident: $suffix:literal, fn($($argument:ty),* $(,)?) -> $result:ty;)* }) => {
        $(#[$doc])*
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl crate::symbols::FunctionTable for $table {
            const SIGNATURES: crate::symbols::Signatures =
                &[$(($suffix, &[$(stringify!($argument)),*])),*];
        }

        impl $table {
            /// Loads every function, whose name is `prefix` and its own part.
            pub(crate) fn load(library: &testgen_device::SharedLibrary, prefix: &str) -> Result<Self, String> {
                Ok(Self {
                    $($field: {
                        let symbol = format!("{prefix}{}", $suffix);
                        // SAFETY: the type is the C signature of the function in the vendor's
                        // header; `tests/declarations` compares the signatures of AMD's libraries
                        // with the published ones.
                        unsafe { library.function(&symbol) }.ok_or(symbol)?
                    },)*
                })
            }
        }
    };
}

pub(crate) use functions;

/// A descriptor of a library, or its handle.
pub(crate) type Opaque = *mut std::ffi::c_void;

/// Names of functions with the types of their parameters, as they are written in the source.
pub(crate) type Signatures = &'static [(&'static str, &'static [&'static str])];

/// A table of functions.
pub(crate) trait FunctionTable {
    /// The own parts of the names, with the types of the parameters.
    const SIGNATURES: Signatures;
}

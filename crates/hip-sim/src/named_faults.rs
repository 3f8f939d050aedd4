//! Faults with their names in `HIP_SIM_FAULTS`.

/// Defines faults, each with its name.
macro_rules! named_faults {
    ($(#[$doc:meta])* $faults:ident { $($(#[$fault_doc:meta])* $fault:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $faults {
            $($(#[$fault_doc])* $fault,)+
        }

        impl $faults {
            /// Every fault with its name in `HIP_SIM_FAULTS`.
            pub const ALL: &[(&str, Self)] = &[$(($name, Self::$fault)),+];
        }

        impl std::str::FromStr for $faults {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|(name, _)| *name == text);
                found.map(|(_, fault)| *fault).ok_or(())
            }
        }
    };
}
pub(crate) use named_faults;

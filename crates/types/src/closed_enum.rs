//! `closed_enum!`: closed enums whose variants have one written form, with a parser that suggests
//! the nearest one.

use std::fmt;

/// A string that is not the written form of any variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name that was expected, for instance `architecture`.
    pub kind: &'static str,
    /// The name as given.
    pub given: String,
    /// Known names, nearest first.
    pub near: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`", self.kind, self.given)?;
        match self.near.as_slice() {
            [] => Ok(()),
            [first, rest @ ..] => {
                write!(f, "; did you mean `{first}`")?;
                rest.iter().try_for_each(|name| write!(f, ", `{name}`"))?;
                write!(f, "?")
            }
        }
    }
}

impl std::error::Error for UnknownName {}

impl UnknownName {
    /// Ranks `known` by similarity to `given` and keeps the three nearest.
    pub(crate) fn new(
        kind: &'static str,
        given: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> Self {
        let mut ranked: Vec<(f64, &str)> = known
            .map(|name| (strsim::jaro_winkler(given, name), name))
            .collect();
        // Equal scores by name: the order of declaration means nothing to a reader.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        // Below 0.7 the names share little more than a few letters, and a suggestion would mislead.
        let near = ranked
            .into_iter()
            .filter(|(score, _)| *score > 0.7)
            .take(3)
            .map(|(_, name)| name)
            .collect();
        // `given` may be a whole file that was passed by mistake: a message stays one line.
        Self {
            kind,
            given: given.chars().take(120).collect(),
            near,
        }
    }
}

/// Declares a closed enum with `ALL`, `as_str`, `variant_name`, `Display`, `FromStr` and serde by
/// the written form.
macro_rules! closed_enum {
    ($(#[$doc:meta])* $name:ident: $kind:literal { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every variant, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The written form, as specs, test names and reports use it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The Rust name of the variant, as generated code uses it.
            pub const fn variant_name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // `pad` honours a width, by which tables align names.
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::closed_enum::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|variant| variant.as_str() == text)
                    .ok_or_else(|| $crate::closed_enum::UnknownName::new($kind, text, Self::ALL.iter().map(|variant| variant.as_str())))
            }
        }
    };
}
pub(crate) use closed_enum;

//! Settings of a controller by name. An experiment file can set every constant of a controller, as
//! text.

use std::fmt;

/// One setting of a configuration: name, value as text, and documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name in an experiment file, for example `threshold.k_up`.
    pub name: &'static str,
    /// The value, in the form that [`FromStr`](std::str::FromStr) parses.
    pub value: String,
    /// Meaning, unit and source.
    pub doc: &'static str,
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is no setting of this name: the name, and all names that exist.
    Unknown(String, Vec<&'static str>),
    /// The text is not a valid value: name of the setting, text, reason.
    Invalid(&'static str, String, String),
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, known) if known.is_empty() => {
                write!(f, "no setting '{name}'; this controller has no settings")
            }
            Self::Unknown(name, known) => {
                write!(f, "no setting '{name}'; there are {}", known.join(", "))
            }
            Self::Invalid(name, text, reason) => write!(f, "setting {name} = '{text}': {reason}"),
        }
    }
}

impl std::error::Error for SettingError {}

/// Declares a configuration whose fields can be set and listed by name. The doc comment of a field
/// is the documentation of the setting.
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct $config:ident {
            $( $(#[doc = $doc:literal])+ $name:literal => $field:ident: $type:ty, )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $( $(#[doc = $doc])+ pub $field: $type, )+
        }

        impl $config {
            /// Sets one constant by name.
            ///
            /// # Errors
            /// When there is no such setting, or the text is not a valid value.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::SettingError> {
                match name {
                    $( $name => {
                        self.$field = text.parse::<$type>().map_err(|error| {
                            $crate::SettingError::Invalid($name, text.to_owned(), error.to_string())
                        })?;
                    } )+
                    _ => return Err($crate::SettingError::Unknown(name.to_owned(), vec![$($name),+])),
                }
                Ok(())
            }

            /// Every setting with its current value.
            #[must_use]
            pub fn settings(&self) -> Vec<$crate::Setting> {
                vec![$( $crate::Setting {
                    name: $name,
                    value: self.$field.to_string(),
                    doc: concat!($($doc),+).trim_ascii_start(),
                } ),+]
            }
        }
    };
}
pub(crate) use settings;

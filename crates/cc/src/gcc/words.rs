//! Settings whose value is one of a fixed list of words.

/// Declares an enum that parses and prints its words.
macro_rules! words {
    ($(#[$outer:meta])* $vis:vis enum $name:ident { $( $(#[$inner:meta])* $variant:ident = $word:literal, )+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $( $(#[$inner])* $variant, )+
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err(format!("use one of {}", [$($word),+].join(", "))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $( Self::$variant => $word, )+ })
            }
        }
    };
}
pub(crate) use words;

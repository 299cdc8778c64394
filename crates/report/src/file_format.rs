//! The formats of figures as files.

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Vector graphics. Text is text, in the reader's fonts.
    Svg,
    /// Vector graphics with embedded fonts.
    Pdf,
    /// Pixels, 300 per inch.
    Png,
    /// The values.
    Csv,
}

impl FileFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Svg, Self::Pdf, Self::Png, Self::Csv];

    /// The name, which is also the extension of the files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
            Self::Csv => "csv",
        }
    }

    /// Whether this build can write the format.
    #[must_use]
    pub const fn is_built(self) -> bool {
        cfg!(feature = "paper") || matches!(self, Self::Svg | Self::Csv)
    }
}

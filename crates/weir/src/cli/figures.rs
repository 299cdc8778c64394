//! Formats and widths of figures.

use report::{FileFormat, MAX_WIDTH, MIN_WIDTH};
use std::str::FromStr;

/// A format that this build can write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format(pub(crate) FileFormat);

/// Why a format is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    /// There is no such format.
    #[error("there is no format '{0}'; use svg, pdf, png or csv")]
    Unknown(String),
    /// The build lacks the format.
    #[error(
        "this build does not write {0}: 'make build' makes one that does, or cargo build --release \
         --package weir --features figures; svg and csv are always there"
    )]
    NotBuilt(&'static str),
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let format = FileFormat::ALL.into_iter().find(|format| format.name() == text);
        match format {
            None => Err(FormatError::Unknown(text.to_owned())),
            Some(format) if !format.is_built() => Err(FormatError::NotBuilt(format.name())),
            Some(format) => Ok(Self(format)),
        }
    }
}

/// A width in millimetres, from `85mm` or `8.5cm`.
pub(super) fn width(text: &str) -> Result<f64, String> {
    let units = [("mm", 1.0), ("cm", 10.0)];
    let number = |(unit, factor): (&str, f64)| {
        Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * factor)
    };
    let width = units.into_iter().find_map(number).ok_or("write a width such as 85mm")?;
    if (MIN_WIDTH..=MAX_WIDTH).contains(&width) {
        Ok(width)
    } else {
        Err(format!("use {MIN_WIDTH}mm to {MAX_WIDTH}mm"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_has_a_unit_and_fits_a_figure() {
        assert_eq!((width("85mm"), width("8.5cm")), (Ok(85.0), Ok(85.0)));
        for wrong in ["85", "85in", "1mm", "NaNmm", "2000mm", "-85mm"] {
            assert!(width(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_format_is_refused_with_the_known_ones() {
        assert_eq!("csv".parse::<Format>().map(|format| format.0), Ok(FileFormat::Csv));
        let error = "gif".parse::<Format>().map(|format| format.0).unwrap_err().to_string();
        assert!(error.contains("use svg, pdf, png or csv"), "{error}");
    }
}
